/** The parser of request bodies: JSON within the size and depth limits that the protocol sets for sockets. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { LIMITS } from '../../../protocol/limits.ts';
import { hasPrototypeKey, PROTOTYPE_KEYS_REFUSED } from '../../../protocol/prototype-keys.ts';
import { whyOutOfBounds } from '../../json/bounds.ts';
import { parseBody } from '../../json/json-text.ts';

/** Size limit: the largest message with every byte written as a six-byte escape, and the name of its field. */
export const BODY_BYTES = 6 * LIMITS.messageBytes + 1024;
/** `{ data }`: the body is one level, and is the payload itself. */
const ENVELOPE = { depth: 1, values: 0 };
const BYTE_ORDER_MARK = /^\ufeff/;

/** The body is not JSON, is nested too deeply, has too many values, or a key that is refused. The message is for the client. */
export class MalformedJson extends Error {
  override readonly name = 'NoJson';
}

/** Replaces the parsers of these routes: JSON is accepted, and no other type, plain text included. */
export function acceptJsonOnly(routes: FastifyInstance): void {
  routes.removeAllContentTypeParsers();
  routes.addContentTypeParser(
    'application/json',
    { parseAs: 'string', bodyLimit: BODY_BYTES },
    async (_request: FastifyRequest, body: string) => {
      const text = body.replace(BYTE_ORDER_MARK, '');
      // Some clients send the content type without a body.
      return text === '' ? undefined : readBody(text);
    },
  );
}

/** @throws MalformedJson */
function readBody(text: string): unknown {
  const reason = whyOutOfBounds(text, ENVELOPE);
  if (reason !== undefined) throw new MalformedJson(reason);
  const body = parse(text);
  // Named, and not silently dropped, so that the client learns of it. `data` is text, in which it means nothing.
  if (hasPrototypeKey(body)) throw new MalformedJson(`The body: ${PROTOTYPE_KEYS_REFUSED}`);
  return body;
}

function parse(text: string): unknown {
  try {
    return parseBody(text);
  } catch {
    throw new MalformedJson('The body is not JSON.');
  }
}
