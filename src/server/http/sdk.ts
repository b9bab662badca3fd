/** `/signalbox.js`: the SDK in one file, for pages of any origin that use no bundler. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import type { FastifyInstance } from 'fastify';

/** The build puts it into `dist/browser`, whether this file runs from `src` or from `dist`. */
const PATHS = ['../../browser/signalbox.js', '../../../dist/browser/signalbox.js'];

/** @returns false when the SDK has not been built. */
export async function addSdk(app: FastifyInstance): Promise<boolean> {
  const script = await readBundle();
  if (script === undefined) return false;
  const compressed = gzipSync(script, { level: 9 });
  app.get('/signalbox.js', (request, reply) => {
    const mayCompress = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '');
    if (mayCompress) reply.header('content-encoding', 'gzip');
    return reply
      .type('text/javascript; charset=utf-8')
      .header('vary', 'accept-encoding')
      .header('cache-control', 'public, max-age=300')
      .header('access-control-allow-origin', '*')
      .header('cross-origin-resource-policy', 'cross-origin')
      .send(mayCompress ? compressed : script);
  });
  return true;
}

async function readBundle(): Promise<Buffer | undefined> {
  for (const path of PATHS) {
    try {
      return await readFile(fileURLToPath(new URL(path, import.meta.url)));
    } catch {
      // Not built, or in the other of the two paths.
    }
  }
  return undefined;
}
