/**
 * What two pages say to each other through `signal`, which the server does not look into:
 *
 *   { connection, negotiation, description }   an offer or an answer
 *   { connection, candidate }                  an ICE candidate
 *   { hello }                                  "I am here and wait for your offer"
 *
 * each with `page`. A peer that knows nothing of this SDK leaves out what it does not know.
 */
import type { Json } from '../../protocol/index.ts';

export interface Description {
  readonly type: 'offer' | 'answer';
  readonly sdp: string;
}

export interface Signal {
  /** Which mesh it is from. After a refresh the member is the same and its mesh another one, which knows of nothing. */
  readonly page?: string | undefined;
  /** Names one RTCPeerConnection; chosen by the one who makes its first offer. None means the present one. */
  readonly connection?: string | undefined;
  /** Number of the offer, or of the one that is answered; a later offer of a page has a greater one. */
  readonly negotiation?: number | undefined;
  /** With an offer: the number of the last one of the other side that was answered. */
  readonly answered?: number | undefined;
  /** The offer goes on with a connection: whoever does not have that must not open one for it. */
  readonly again?: boolean | undefined;
  readonly description?: Description | undefined;
  readonly candidate?: RTCIceCandidateInit | undefined;
  readonly hello?: boolean | undefined;
}

/** It may be anything: what does not fit is as if it were not there. */
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
    // The browser looks into it, and refuses whatever is none.
    candidate: candidate as RTCIceCandidateInit | undefined,
    hello: !!hello,
  };
}

/** Descriptions and candidates are objects of the browser; on the wire they are plain JSON. */
export const writeSignal = (signal: Signal): Json => JSON.parse(JSON.stringify(signal)) as Json;

const fieldsOf = (value: unknown): Record<string, unknown> => Object(value) as Record<string, unknown>;
const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);
const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
