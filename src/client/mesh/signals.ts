/**
 * The format of the signals between two meshes, which the server relays without reading them:
 *
 *   { connection, negotiation, description }   an offer or an answer
 *   { connection, candidate }                  an ICE candidate
 *   { hello }                                  "I wait for your offer"
 *
 * each with `page`. A peer without this SDK sends `description` and `candidate` only.
 */
import type { Json } from '../../protocol/index.ts';

export interface Description {
  readonly type: 'offer' | 'answer';
  readonly sdp: string;
}

export interface Signal {
  /** Id of the sender's mesh. After a refresh of the page, the same member has another one. */
  readonly page?: string | undefined;
  /** Id of the RTCPeerConnection, chosen by the side that makes its first offer. Without it, the present one is meant. */
  readonly connection?: string | undefined;
  /** Number of the offer, or of the offer that is answered. The numbers of a page increase. */
  readonly negotiation?: number | undefined;
  /** With an offer: the number of the last offer that this side has answered. */
  readonly answered?: number | undefined;
  /** The offer belongs to an existing connection: a side that does not have it must not create one for it. */
  readonly again?: boolean | undefined;
  readonly description?: Description | undefined;
  readonly candidate?: RTCIceCandidateInit | undefined;
  readonly hello?: boolean | undefined;
}

/** @param data anything: fields of another form are ignored */
export function readSignal(data: Json): Signal {
  const { page, connection, negotiation, answered, again, description, candidate, hello } = fieldsOf(data);
  const { type, sdp } = fieldsOf(description);
  return {
    page: textOf(page),
    connection: textOf(connection),
    negotiation: numberOf(negotiation),
    answered: numberOf(answered),
    again: !!again,
    description: (type === 'offer' || type === 'answer') && typeof sdp === 'string' ? { type, sdp } : undefined,
    // The browser validates it.
    candidate: candidate as RTCIceCandidateInit | undefined,
    hello: !!hello,
  };
}

/** Descriptions and candidates are the browser's objects: on the wire they are plain JSON. */
export const writeSignal = (signal: Signal): Json => JSON.parse(JSON.stringify(signal)) as Json;

const fieldsOf = (value: unknown): Record<string, unknown> => Object(value) as Record<string, unknown>;
const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);
const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
