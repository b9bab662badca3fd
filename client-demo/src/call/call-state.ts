/** The state that the views of a call render: a new one after every change. */
import type { Member, Peer, PeerState, RoomSnapshot, UserId } from '../../../src/client/index.ts';
import type { Quality } from './quality.ts';

export interface CallState {
  readonly room: RoomSnapshot;
  readonly own: UserId;
  readonly peers: ReadonlyMap<UserId, Peer>;
  readonly qualities: ReadonlyMap<UserId, Quality>;
  /** The own camera. */
  readonly picture: MediaStream | null;
  /** Whether it is mirrored. */
  readonly isMirror: boolean;
}

/** One member of it. */
export interface Participant {
  readonly member: Member;
  readonly isOwn: boolean;
  readonly link: PeerState;
  readonly stream: MediaStream | null;
  readonly isMirror: boolean;
  readonly screen: MediaStream | null;
  readonly quality: Quality | null;
}

/** Key of a participant: a member with a new seat gets new elements. */
export const keyOf = ({ member }: Participant): string => `${member.userId} ${member.seq}`;

/** In the order of joining. */
export function participantsOf({ room, own, peers, qualities, picture, isMirror }: CallState): Participant[] {
  return room.members.map((member) => {
    const isOwn = member.userId === own;
    const peer = peers.get(member.userId);
    return {
      member,
      isOwn,
      link: isOwn ? 'connected' : (peer?.state ?? 'connecting'),
      stream: isOwn ? picture : (peer?.stream ?? null),
      isMirror: isOwn && isMirror,
      screen: peer?.screen ?? null,
      quality: qualities.get(member.userId) ?? null,
    };
  });
}
