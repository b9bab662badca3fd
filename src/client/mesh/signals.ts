/**
 * The format of the signals between two meshes, which the server relays without reading them:
 *
 *   { connection, negotiation, description }   an offer or an answer
 *   { connection, candidate }                  an ICE candidate
 *   { hello }                                  a request for an offer
 *
 * each with `page`. A peer without this SDK sends only `description` and `candidate`.
 */
import type { Json } from '../../protocol/index.ts';

export interface Description {
  readonly type: 'offer' | 'answer';
  readonly sdp: string;
}

export interface Signal {
  /** Id of the sender's mesh: another one after a refresh of the page. */
  readonly page?: string | undefined;
  /** Id of the RTCPeerConnection, chosen by the offerer. Default: the current connection. */
  readonly connection?: string | undefined;
  /** Number of the offer, or of the answered offer. Numbers of a page increase. */
  readonly negotiation?: number | undefined;
  /** With an offer: the number of the last offer that the sender has answered. */
  readonly answered?: number | undefined;
  /** Renegotiation: the offer belongs to an existing connection. A receiver without it must not create one. */
  readonly again?: boolean | undefined;
  readonly description?: Description | undefined;
  readonly candidate?: RTCIceCandidateInit | undefined;
  readonly hello?: boolean | undefined;
}

/** @param data untrusted: fields of another type are ignored */
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

/** Converts the browser's description and candidate objects to plain JSON. */
export const writeSignal = (signal: Signal): Json => JSON.parse(JSON.stringify(signal)) as Json;

const fieldsOf = (value: unknown): Record<string, unknown> => Object(value) as Record<string, unknown>;
const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);
const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
