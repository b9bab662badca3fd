/**
 * What two pages say to each other through `signal`, which the server does not look into:
 *
 *   { connection, description }   an offer or an answer (RTCSessionDescriptionInit)
 *   { connection, candidate }     an ICE candidate (RTCIceCandidateInit)
 *
 * `connection` names one attempt of one pair, chosen by the one who makes its first offer: what belongs to an earlier
 * attempt arrives late after a refresh and must not reach the new one. A peer that knows of no `connection` may leave
 * it out: then it means the present one.
 */
import type { Json } from '../../src/protocol/index.ts';

export interface Signal {
  readonly connection?: string;
  readonly description?: RTCSessionDescriptionInit;
  readonly candidate?: RTCIceCandidateInit;
}

/** What came from another browser, or undefined: it may be anything. */
export function readSignal(data: unknown): Signal | undefined {
  if (!isRecord(data)) return undefined;
  const { connection, description, candidate } = data;
  const signal: Signal = {
    ...(typeof connection === 'string' && { connection }),
    ...(isDescription(description) && { description: { type: description.type, sdp: description.sdp } }),
    ...(isRecord(candidate) && { candidate }),
  };
  return signal.description === undefined && signal.candidate === undefined ? undefined : signal;
}

/** Descriptions and candidates are objects of the browser; on the wire they are plain JSON. */
export const writeSignal = (signal: Signal): Json => JSON.parse(JSON.stringify(signal)) as Json;

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

function isDescription(value: unknown): value is { type: RTCSdpType; sdp: string } {
  return (
    isRecord(value) && typeof value['sdp'] === 'string' && (value['type'] === 'offer' || value['type'] === 'answer')
  );
}
