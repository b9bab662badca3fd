/**
 * Files that are served from memory: the demo page, the SDK, the documentation page. They are few and do not change
 * while the server runs. An answer takes no descriptor and no copy, however many requests a client sends and does not read.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import type { FastifyReply, FastifyRequest } from 'fastify';

export interface ServedFile {
  readonly type: string;
  readonly content: Buffer;
  /** A digest of the content, for clients that ask whether their copy is still the same. */
  readonly etag: string;
}

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};
const OTHER_TYPE = 'application/octet-stream';

export function readFile(path: string): ServedFile {
  return fileOf(readFileSync(path), TYPES[extname(path)] ?? OTHER_TYPE);
}

export function fileOf(content: Buffer, type: string): ServedFile {
  return { content, type, etag: `"${createHash('sha256').update(content).digest('base64url')}"` };
}

/** Answers with the file, or with 304 when the client has it. `Range` is not supported: the answer is the whole file. */
export function sendFile(request: FastifyRequest, reply: FastifyReply, { content, type, etag }: ServedFile) {
  reply.header('etag', etag);
  if (hasCopy(request.headers['if-none-match'], etag)) return reply.code(304).send();
  return reply.type(type).send(content);
}

/** A proxy that compresses marks the tag as weak (`W/"..."`): for the question whether to send it again, it is the same. */
const hasCopy = (given: string | undefined, etag: string): boolean =>
  (given ?? '').split(',').some((tag) => ['*', etag].includes(tag.trim().replace(/^W\//, '')));
