/** The parser of request bodies: JSON within the size and depth limits that the protocol sets for sockets. */
import type { FastifyInstance } from 'fastify';
import { LIMITS } from '../../../protocol/limits.ts';
import { isDeeperThan } from '../../limits/json-depth.ts';

/** Size limit: the largest message with every byte written as a six-byte escape, and the name of its field. */
export const BODY_BYTES = 6 * LIMITS.messageBytes + 1024;
/** One more than `data` itself may have: the body `{ data }` is one level. */
const MAX_DEPTH = LIMITS.depth + 1;

/** The body is not JSON, or is nested too deeply. The message is for the client. */
export class MalformedJson extends Error {
  override readonly name = 'NoJson';
}

/** Replaces the parsers of these routes: JSON is accepted, and no other type, plain text included. */
export function acceptJsonOnly(routes: FastifyInstance): void {
  // 'error': names such as `__proto__` are refused and not silently dropped, so that the client learns of it.
  const parse = routes.getDefaultJsonParser('error', 'error');
  routes.removeAllContentTypeParsers();
  routes.addContentTypeParser(
    'application/json',
    { parseAs: 'string', bodyLimit: BODY_BYTES },
    (request, body, done) => {
      const text = String(body);
      // Some clients send the content type without a body.
      if (text === '') {
        done(null, undefined);
        return;
      }
      if (isDeeperThan(MAX_DEPTH, text)) {
        done(new MalformedJson(`Nested deeper than ${LIMITS.depth}.`));
        return;
      }
      // Its result comes by the callback; the returned promise belongs to another kind of parser.
      void parse(request, text, (error, value) =>
        done(error === null ? null : new MalformedJson('The body is not JSON.'), value),
      );
    },
  );
}
