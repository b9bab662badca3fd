/** The demo page at `/`: each file of the built page is a route of its own. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import { readFile, sendFile } from './file.ts';

/** The page is built into `dist/client-demo`, whether this file runs from `src` or from `dist`. */
const FOLDERS = ['../../client-demo', '../../../dist/client-demo'];
const PAGE = 'index.html';
/** Devices that the page asks for, and those that no script in it may ask for. Frames of other sites get none. */
const ALLOWED =
  'camera microphone display-capture screen-wake-lock fullscreen clipboard-write speaker-selection autoplay picture-in-picture';
const DENIED = 'geolocation payment usb serial hid midi bluetooth';
const PERMISSIONS_POLICY = [
  ...ALLOWED.split(' ').map((feature) => `${feature}=(self)`),
  ...DENIED.split(' ').map((feature) => `${feature}=()`),
].join(', ');

/** @returns false when the page has not been built. */
export function addDemo(app: FastifyInstance): boolean {
  const folder = FOLDERS.map((path) => fileURLToPath(new URL(path, import.meta.url))).find(isBuilt);
  if (folder === undefined) return false;
  for (const path of filesIn(folder)) {
    const file = readFile(join(folder, path));
    // Assets have a digest in their names and are cached for ever; the page that names them is always revalidated.
    const caching = path.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'no-cache';
    for (const url of path === PAGE ? ['/', `/${PAGE}`] : [`/${path}`]) {
      app.get(url, (request, reply) => {
        reply.header('cache-control', caching);
        if (path === PAGE) reply.header('permissions-policy', PERMISSIONS_POLICY);
        return sendFile(request, reply, file);
      });
    }
  }
  return true;
}

const isBuilt = (folder: string): boolean => folder.endsWith('/dist/client-demo') && existsSync(join(folder, PAGE));

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
