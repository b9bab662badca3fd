/** What the random tests of the engines do, in terms that always apply: see `random-actions.ts`. */
import type { RoomChanges, SeatChanges } from '../../src/room/commands.ts';
import type { RandomCopy } from './random-copies.ts';

export interface Where {
  readonly place: number;
  readonly user: number;
  /** Index of an earlier ref; `undefined` for the ref of the current room. */
  readonly past: number | undefined;
  /** Offset from the session of the seat. */
  readonly off: number;
}

export type Action =
  | { readonly do: 'wait'; readonly ms: number }
  | {
      readonly do: 'create';
      /** Undefined: without a host. */
      readonly user: number | undefined;
      readonly candidates: readonly number[];
      readonly searchFrom: number;
      readonly idempotencyKey: string | undefined;
      readonly maxUsers: number;
      readonly changes: RoomChanges;
      readonly profile: SeatChanges;
    }
  | { readonly do: 'join'; readonly where: Where; readonly profile: SeatChanges }
  | { readonly do: 'leave' | 'suspend' | 'resume' | 'renew'; readonly where: Where }
  | { readonly do: 'close'; readonly where: Where; readonly owner: boolean }
  | { readonly do: 'change room'; readonly where: Where; readonly changes: RoomChanges; readonly owner: boolean }
  | { readonly do: 'change seat'; readonly where: Where; readonly changes: SeatChanges }
  | {
      readonly do: 'kick';
      readonly where: Where;
      readonly target: number;
      readonly ban: boolean;
      readonly owner: boolean;
    }
  | { readonly do: 'find'; readonly where: Where }
  | { readonly do: 'read'; readonly where: Where; readonly meant: boolean; readonly behind: number | undefined }
  | { readonly do: 'resolve'; readonly where: Where; readonly meant: boolean; readonly joins: boolean }
  | { readonly do: 'tick'; readonly held: readonly Where[]; readonly limit: number }
  | { readonly do: 'restore'; readonly copy: RandomCopy }
  | { readonly do: 'cool'; readonly codes: readonly number[]; readonly forMs: number }
  | { readonly do: 'stats' }
  | { readonly do: 'list'; readonly after: number | undefined; readonly limit: number }
  | { readonly do: 'arrive'; readonly user: number; readonly name: string | undefined }
  | { readonly do: 'touch'; readonly where: Where; readonly sits: boolean }
  | { readonly do: 'depart'; readonly user: number; readonly off: number };
