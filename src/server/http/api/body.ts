/** Bodies are JSON, no larger and no deeper than anything the protocol lets in by a socket. */
import type { FastifyInstance } from 'fastify';
import { LIMITS } from '../../../protocol/limits.ts';
import { isDeeperThan } from '../../limits/json-depth.ts';

/** What the largest body may hold: a message, in which every byte is written as an escape of six, and the field's name. */
export const BODY_BYTES = 6 * LIMITS.messageBytes + 1024;
/** `{ data }`: the body nests once before the depth of `data` begins. */
const MAX_DEPTH = LIMITS.depth + 1;

/** Text that is no JSON, or that nobody should parse. Its message is for the client. */
export class NoJson extends Error {
  override readonly name = 'NoJson';
}

/** Of these routes alone: nothing else is taken here, not even plain text. */
export function takeJsonOnly(routes: FastifyInstance): void {
  // Names such as `__proto__` are refused, not dropped: whoever sends them should know.
  const parse = routes.getDefaultJsonParser('error', 'error');
  routes.removeAllContentTypeParsers();
  routes.addContentTypeParser(
    'application/json',
    { parseAs: 'string', bodyLimit: BODY_BYTES },
    (request, body, done) => {
      const text = String(body);
      // Many a client names the type of every body, of those that it does not send too.
      if (text === '') {
        done(null, undefined);
        return;
      }
      if (isDeeperThan(MAX_DEPTH, text)) {
        done(new NoJson(`Nested deeper than ${LIMITS.depth}.`));
        return;
      }
      // It answers by the callback; what it may return is for parsers of another kind.
      void parse(request, text, (error, value) =>
        done(error === null ? null : new NoJson('The body is not JSON.'), value),
      );
    },
  );
}
