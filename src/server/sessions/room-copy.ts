/**
 * What this node knows of a room beside its members: enough to restore the room when the store has lost it. It is taken
 * from snapshots, from the events of the room, and from ticks, which tell what the others leave out.
 */
import type { UserId } from '../../protocol/ids.ts';
import type { RoomInfo, RoomSnapshot } from '../../protocol/snapshot.ts';
import type { RoomEvent } from '../../room/outcomes.ts';
import type { RoomCopy, RoomKey } from '../../room/room.ts';

export class KeptRoomCopy {
  #copy: RoomCopy;
  /** Whether it has the bans and the creator too, which only a tick tells. */
  #isWhole = false;

  constructor(room: RoomSnapshot) {
    this.#copy = { ...settingsOf(room), createdBy: null, banned: [], nextSeq: nextSeqOf(room, 1) };
  }

  get copy(): RoomCopy {
    return this.#copy;
  }

  /** The revision for a tick to compare with: below every one as long as something is missing. */
  get knownRev(): number {
    return this.#isWhole ? this.#copy.rev : -1;
  }

  learnSnapshot(room: RoomSnapshot): void {
    if (room.rev > this.#copy.rev) this.#change({ ...settingsOf(room), nextSeq: nextSeqOf(room, this.#copy.nextSeq) });
  }

  /** From a tick. */
  learnWhole({ code: _c, ref: _r, ...copy }: RoomKey & RoomCopy): void {
    if (copy.rev < this.#copy.rev) return;
    this.#copy = copy;
    this.#isWhole = true;
  }

  learnBan(userId: UserId): void {
    if (!this.#copy.banned.includes(userId)) this.#change({ banned: [...this.#copy.banned, userId] });
  }

  learnEvent({ name, body }: RoomEvent): void {
    const { rev, nextSeq } = this.#copy;
    if (body.rev <= rev) return;
    // What was missed may be a ban: a tick tells. The event of a kick does not tell it either.
    if (body.rev > rev + 1 || (name === 'member:left' && body.reason === 'kicked')) this.#isWhole = false;
    if (name === 'room:updated') this.#change(settingsOf({ ...body.room, rev: body.rev }));
    if (name === 'host:changed') this.#change({ hostId: body.hostId });
    if (name === 'member:joined') this.#change({ nextSeq: Math.max(nextSeq, body.member.seq + 1) });
    // After a gap the settings may be older than the event.
    if (body.rev === rev + 1) this.#change({ rev: body.rev });
  }

  #change(changes: Partial<RoomCopy>): void {
    this.#copy = { ...this.#copy, ...changes };
  }
}

type Settings = Omit<RoomCopy, 'createdBy' | 'banned' | 'nextSeq'>;

function settingsOf(room: RoomInfo): Settings {
  const { rev, name, type, maxUsers, access, locked, hostId, createdAt, expiresAt, metadata } = room;
  const settings = { rev, name, type, maxUsers, access, locked, hostId, createdAt, expiresAt };
  return metadata === undefined ? settings : { ...settings, metadata: JSON.stringify(metadata) };
}

const nextSeqOf = ({ members }: RoomSnapshot, least: number): number =>
  members.reduce((next, { seq }) => Math.max(next, seq + 1), least);
