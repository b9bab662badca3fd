/** Reads one Socket.IO event as a request of the protocol. */
import type { z } from 'zod';
import type { ErrorCode } from '../../protocol/errors.ts';
import type { RequestName } from '../../protocol/events.ts';
import { LIMITS } from '../../protocol/limits.ts';
import { REQUESTS } from '../../protocol/messages.ts';
import { jsonText } from '../json/json-text.ts';
import { RefusedPacket } from './packet-parser.ts';

export type Acknowledge = (reply: object) => void;
/** The name of an event and its arguments, as Socket.IO hands them to a middleware. */
export type Packet = readonly unknown[];

export interface Request {
  readonly name: RequestName;
  readonly payload: unknown;
}
interface Malformed {
  readonly code: ErrorCode;
  readonly message?: string;
}

/** Payload schemas by event name. A Map: names come from strangers, and an object also has its prototype's names. */
const SCHEMAS: ReadonlyMap<unknown, z.ZodType> = new Map<unknown, z.ZodType>([
  ...Object.entries(REQUESTS).map(([name, { payload }]) => [name, payload] as const),
  ['signal', REQUESTS.signal.payload.extend({ data: jsonText(LIMITS.signalBytes) })],
  ['message', REQUESTS.message.payload.extend({ data: jsonText(LIMITS.messageBytes) })],
]);

/** @returns the function that answers; `undefined` when the client asked for no acknowledgement. */
export function acknowledgementOf(packet: Packet): Acknowledge | undefined {
  const last = packet.at(-1);
  // Socket.IO alone puts a function there.
  return typeof last === 'function' ? (last as Acknowledge) : undefined;
}

export function readRequest(packet: Packet): Request | Malformed {
  const [name, ...rest] = packet.filter((part) => typeof part !== 'function');
  if (name instanceof RefusedPacket) return { code: 'BAD_REQUEST', message: name.reason };
  const schema = SCHEMAS.get(name);
  if (schema === undefined) return { code: 'BAD_REQUEST', message: 'No such request.' };
  if (rest.length > 1) return { code: 'BAD_REQUEST', message: 'A request has one payload.' };
  const read = schema.safeParse(rest.length === 0 ? {} : rest[0]);
  // Only names of the protocol have a schema.
  if (read.success) return { name: name as RequestName, payload: read.data };
  return { code: isTooLarge(read.error) ? 'PAYLOAD_TOO_LARGE' : 'BAD_REQUEST', message: describe(read.error) };
}

/** The first issue and its path. The payload itself is not repeated. */
function describe({ issues }: z.ZodError): string {
  const [issue] = issues;
  // zod's own text would repeat the names of the unknown fields.
  if (issue?.code === 'unrecognized_keys') return 'The payload: unknown fields';
  const path = issue?.path.join('.') ?? '';
  return `${path === '' ? 'The payload' : path}: ${issue?.message ?? 'malformed'}`;
}

const isTooLarge = ({ issues }: z.ZodError): boolean =>
  issues.some((issue) => issue.code === 'custom' && issue.params?.['tooLarge'] === true);
