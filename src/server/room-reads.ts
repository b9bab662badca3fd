/**
 * Reads of rooms, shared on this node: there is one read of a room at a time, and everybody who asks while it is under way is
 * answered by the next one. So nobody gets a state from before its question, and a hundred questions cost two reads.
 */
import type { UserId } from '../protocol/ids.ts';
import type { RoomSnapshot } from '../protocol/snapshot.ts';
import type { Outcome, Read } from '../room/commands.ts';
import { singleFlight } from '../support/async/single-flight.ts';

/** What a caller has already: it is told the room only if that has changed, or if this user is no member. */
interface Known {
  readonly rev: number;
  readonly userId?: UserId;
}

type RoomName = Pick<Read, 'code' | 'ref'>;
type FoundRoom = Exclude<Outcome<Read>, { readonly reason: 'UNCHANGED' }>;

interface Flight {
  /** What has been asked since the last read began; `undefined` for a caller that has no revision. */
  asked: (Known | undefined)[];
  readonly fly: () => Promise<Outcome<Read>>;
  waiting: number;
}

export class RoomReads {
  readonly #apply: (command: Read) => Promise<Outcome<Read>>;
  readonly #flights = new Map<string, Flight>();

  constructor(apply: (command: Read) => Promise<Outcome<Read>>) {
    this.#apply = apply;
  }

  /** The room is shared with other callers: it must not be changed. */
  async read(room: RoomName): Promise<FoundRoom> {
    // Somebody without a revision is in the flight: the store tells the room.
    return (await this.#ask(room, undefined)) as FoundRoom;
  }

  async readSince(room: RoomName, known: Known): Promise<Outcome<Read>> {
    const outcome = await this.#ask(room, known);
    // Others in the flight needed the room.
    const isUnchanged = outcome.ok && outcome.room.rev === known.rev && isMember(outcome.room, known);
    return isUnchanged ? { ok: false, reason: 'UNCHANGED' } : outcome;
  }

  async #ask(room: RoomName, known: Known | undefined): Promise<Outcome<Read>> {
    const key = `${room.code} ${room.ref ?? ''}`;
    const flight = this.#flights.get(key) ?? this.#open(key, room);
    flight.asked.push(known);
    flight.waiting += 1;
    try {
      return await flight.fly();
    } finally {
      flight.waiting -= 1;
      if (flight.waiting === 0) this.#flights.delete(key);
    }
  }

  #open(key: string, room: RoomName): Flight {
    const flight: Flight = {
      asked: [],
      fly: singleFlight(() => {
        const { asked } = flight;
        flight.asked = [];
        return this.#apply({ kind: 'read', ...room, ...knownToAll(asked) });
      }),
      waiting: 0,
    };
    this.#flights.set(key, flight);
    return flight;
  }
}

export const hasMember = ({ members }: RoomSnapshot, userId: UserId): boolean =>
  members.some((member) => member.userId === userId);

const isMember = (room: RoomSnapshot, { userId }: Known): boolean => userId === undefined || hasMember(room, userId);

/** The store is told a revision only if all have the same one: otherwise somebody needs the room. */
function knownToAll(asked: readonly (Known | undefined)[]): Pick<Read, 'known'> {
  const rev = asked[0]?.rev;
  if (rev === undefined || asked.some((known) => known?.rev !== rev)) return {};
  return { known: { rev, members: [...new Set(asked.flatMap((known) => known?.userId ?? []))] } };
}
