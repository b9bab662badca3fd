/** `/signalbox.js`: the SDK in one file, for pages without a bundler, from whatever origin they come. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import type { FastifyInstance } from 'fastify';

/** Built to `dist/browser`, whether this file runs from `src` or from `dist`. */
const PLACES = ['../../browser/signalbox.js', '../../../dist/browser/signalbox.js'];

/** @returns whether there is one to serve. */
export async function addSdk(app: FastifyInstance): Promise<boolean> {
  const script = await bundle();
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

async function bundle(): Promise<Buffer | undefined> {
  for (const place of PLACES) {
    try {
      return await readFile(fileURLToPath(new URL(place, import.meta.url)));
    } catch {
      // Not built, or not here.
    }
  }
  return undefined;
}
