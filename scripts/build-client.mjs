#!/usr/bin/env node
// Bundles src/client with socket.io-client into one file for browsers: dist/browser/signalbox.js.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';

const path = (relative) => fileURLToPath(new URL(`../${relative}`, import.meta.url));

// The SDK uses the WebSocket transport alone and reconnects by itself, and the protocol has no binary messages. What
// Socket.IO's client brings for other transports (upgrades to them, base64), its own reconnection and binary messages never
// runs, and is left out.
const NEVER_RUN = {
  'engine.io-client/build/esm/transports/index.js': `import { WS } from './websocket.js'; export const transports = { websocket: WS };`,
  'engine.io-client/build/esm/transports/polling-xhr.js': 'export const XHR = undefined;',
  'engine.io-parser/build/esm/contrib/base64-arraybuffer.js': 'export const decode = () => new ArrayBuffer(0);',
  'socket.io-parser/build/esm/binary.js':
    'export const deconstructPacket = (packet) => ({ packet, buffers: [] }); export const reconstructPacket = (packet) => packet;',
  'socket.io-parser/build/esm/is-binary.js':
    'export const isBinary = () => false; export const hasBinary = () => false;',
  'socket.io-client/build/esm/contrib/backo2.js':
    'export class Backoff { setMin() {} setMax() {} setJitter() {} reset() {} duration() {} }',
};
// Parts of files: the probe of an upgrade, the text for servers of Socket.IO 2, the queue of sends that are repeated, the
// listeners to what goes out, and the reconnection again.
const NEVER_RUN_IN = {
  'engine.io-client/build/esm/socket.js': [bodyOf('_probe')],
  'socket.io-client/build/esm/socket.js': [
    /(?<=new Error\()"It seems you are trying to reach[^"]*"/,
    ...['_addToQueue', '_drainQueue', 'emitWithAck', 'prependAny', 'listenersAny'].map(bodyOf),
    ...['onAnyOutgoing', 'prependAnyOutgoing', 'offAnyOutgoing', 'listenersAnyOutgoing'].map(bodyOf),
  ],
  'socket.io-client/build/esm/manager.js': ['reconnect', 'onreconnect'].map(bodyOf),
};

/** Finds the body of a method. */
function bodyOf(method) {
  return new RegExp(`(?<=\\n {4}${method}\\([^)]*\\) \\{)[\\s\\S]*?(?=\\n {4}\\}\\n)`);
}

function without(parts, file) {
  return parts.reduce(
    (code, part) => {
      if (!part.test(code)) throw new Error(`${file} has changed: ${part} is not in it any more`);
      return code.replace(part, '');
    },
    readFileSync(file, 'utf8'),
  );
}

const webSocketAlone = {
  name: 'websocket-alone',
  enforce: 'pre',
  load(id) {
    const file = id.replaceAll('\\', '/');
    const partial = Object.entries(NEVER_RUN_IN).find(([path]) => file.endsWith(path));
    if (partial !== undefined) return without(partial[1], id);
    return Object.entries(NEVER_RUN).find(([path]) => file.endsWith(path))?.[1];
  },
};

// A test may start this build, and its NODE_ENV would bring Socket.IO's debugging along.
process.env.NODE_ENV = 'production';

const output = await build({
  root: path('.'),
  configFile: false,
  logLevel: 'warn',
  publicDir: false,
  plugins: [webSocketAlone],
  build: {
    outDir: path('dist/browser'),
    emptyOutDir: true,
    target: 'es2022',
    sourcemap: true,
    modulePreload: false,
    rolldownOptions: {
      input: path('src/client/index.ts'),
      preserveEntrySignatures: 'strict',
      output: { entryFileNames: 'signalbox.js' },
    },
  },
});
const [{ code }] = output.output;
console.log(`dist/browser/signalbox.js: ${code.length} bytes, ${gzipSync(code, { level: 9 }).length} with gzip`);
