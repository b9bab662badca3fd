/**
 * What this page tells the others about itself, in the metadata of its profile. `page` names this very page load: after
 * a refresh the user and the seat are the same, but the page is another one and every connection with it begins anew.
 * After a mere loss of the connection to the server it is the same page, and a call that runs keeps running.
 */
import type { Json, Member, Profile } from '../../src/protocol/index.ts';

export interface Presence {
  readonly camera: boolean;
  readonly microphone: boolean;
}

const PAGE = Array.from(crypto.getRandomValues(new Uint8Array(6)), (byte) => byte.toString(16).padStart(2, '0')).join(
  '',
);

export const profileOf = ({ camera, microphone }: Presence): Profile => ({
  mediaType: camera ? 'video' : microphone ? 'audio' : 'none',
  metadata: { page: PAGE, camera, microphone },
});

/** A member that is not this page may say nothing of this, or anything else. */
export function pageOf(member: Member): string | undefined {
  const page = field(member.metadata, 'page');
  return typeof page === 'string' ? page : undefined;
}

export const presenceOf = (member: Member): Presence => ({
  camera: field(member.metadata, 'camera') !== false,
  microphone: field(member.metadata, 'microphone') !== false,
});

function field(metadata: Json | undefined, name: string): Json | undefined {
  return typeof metadata === 'object' && metadata !== null && !Array.isArray(metadata) ? metadata[name] : undefined;
}
