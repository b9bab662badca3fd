/** `/signalbox.js`: the SDK in one file, for pages of any origin that use no bundler. */
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { fileOf, readFile, type ServedFile, sendFile } from './file.ts';

/** The build puts it into `dist/browser`, whether this file runs from `src` or from `dist`. */
const PATHS = ['../../browser/signalbox.js', '../../../dist/browser/signalbox.js'];

/** @returns false when the SDK has not been built. */
export function addSdk(app: FastifyInstance): boolean {
  const script = readBundle();
  if (script === undefined) return false;
  const compressed = fileOf(gzipSync(script.content, { level: 9 }), script.type);
  app.get('/signalbox.js', (request, reply) => {
    const mayCompress = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '');
    if (mayCompress) reply.header('content-encoding', 'gzip');
    reply
      .header('vary', 'accept-encoding')
      .header('cache-control', 'public, max-age=300')
      .header('access-control-allow-origin', '*')
      .header('cross-origin-resource-policy', 'cross-origin');
    return sendFile(request, reply, mayCompress ? compressed : script);
  });
  return true;
}

function readBundle(): ServedFile | undefined {
  for (const path of PATHS) {
    try {
      return readFile(fileURLToPath(new URL(path, import.meta.url)));
    } catch {
      // Not built, or in the other of the two paths.
    }
  }
  return undefined;
}
