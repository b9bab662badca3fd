#!/usr/bin/env node
// Bundles src/client with socket.io-client into one file for browsers: dist/browser/signalbox.js.
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';

const path = (relative) => fileURLToPath(new URL(`../${relative}`, import.meta.url));

// The SDK speaks WebSocket alone, but Socket.IO's client brings every transport it knows, and base64 for those that carry
// text only, the back-off of a reconnection that is turned off, and binary messages, of which the protocol has none. None of
// it would ever run.
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
const webSocketAlone = {
  name: 'websocket-alone',
  enforce: 'pre',
  load: (id) => Object.entries(NEVER_RUN).find(([path]) => id.replaceAll('\\', '/').endsWith(path))?.[1],
};

// Whoever starts this build may be a test, whose environment it inherits: then Socket.IO would bring its debugging along.
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
