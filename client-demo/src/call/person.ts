/** Presence of camera and microphone in the metadata of a profile: writing and reading it. */
import type { Json, Member, Profile } from '../../../src/client/index.ts';
import type { Presence } from '../media/capture.ts';
import { texts } from '../texts/texts.ts';

export const profileOf = ({ camera, microphone }: Presence): Profile => ({
  mediaType: camera ? 'video' : microphone ? 'audio' : 'none',
  metadata: { camera, microphone },
});

/** Another program may leave the metadata out, or put anything into it. */
export const presenceOf = (member: Member): Presence => ({
  camera: field(member.metadata, 'camera') !== false,
  microphone: field(member.metadata, 'microphone') !== false,
});

export const nameOf = (member: Member): string => member.name ?? texts.person.guest(member.seq);

export function field(data: Json | undefined, name: string): Json | undefined {
  return typeof data === 'object' && data !== null && !Array.isArray(data) ? data[name] : undefined;
}
