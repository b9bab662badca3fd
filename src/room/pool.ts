/**
 * The codes of a shard. Conservation of codes: free + occupied + cooling = all of them, at every instant. A code is free when it is
 * neither occupied nor cooling: that is derived and never stored, so it cannot be counted wrong.
 */
import type { RoomCode } from '../protocol/ids.ts';

export const SHARDS = 100;

/** The codes that exist, spread evenly over the shards. */
export interface Pool {
  /** Digits of a code, 6 to 8. */
  readonly digits: number;
  /** Codes of one shard: 9,000 for the 900,000 codes of 6 digits; fewer when the pool is shrunk. */
  readonly perShard: number;
}

/** @throws RangeError when so many codes of that length cannot be spread evenly. */
export function createPool(digits: number, size = allCodes(digits)): Pool {
  if (!Number.isInteger(digits) || digits < 6 || digits > 8) throw new RangeError('a code has 6 to 8 digits');
  if (!Number.isInteger(size) || size < SHARDS || size > allCodes(digits) || size % SHARDS !== 0) {
    throw new RangeError(`a pool of ${digits}-digit codes holds a multiple of ${SHARDS} up to ${allCodes(digits)}`);
  }
  return { digits, perShard: size / SHARDS };
}

/** 900,000 for 6 digits: those that do not begin with 0. */
export const allCodes = (digits: number): number => 9 * 10 ** (digits - 1);

/** The shard of a code is its last two digits. */
export const shardOf = (code: RoomCode): number => Number(code) % SHARDS;

/** The codes of a shard are numbered from 0, in their own order. */
export function codeAt(pool: Pool, shard: number, index: number): RoomCode {
  // The smallest code of any length ends in two zeros, so the shard is added to it. The result has `digits` digits.
  return String(10 ** (pool.digits - 1) + index * SHARDS + shard) as RoomCode;
}

export function indexOf(pool: Pool, code: RoomCode): number {
  return Math.floor((Number(code) - 10 ** (pool.digits - 1)) / SHARDS);
}

/**
 * The code to hand out: the first free candidate, else the first free one from `searchFrom` on, wrapping around once.
 *
 * @returns `undefined` when every code of the shard is taken.
 */
export function allocate(
  pool: Pool,
  shard: number,
  isTaken: (code: RoomCode) => boolean,
  candidates: readonly RoomCode[],
  searchFrom: number,
): RoomCode | undefined {
  const drawn = candidates.find((code) => !isTaken(code));
  if (drawn !== undefined) return drawn;
  for (let step = 0; step < pool.perShard; step += 1) {
    const code = codeAt(pool, shard, (searchFrom + step) % pool.perShard);
    if (!isTaken(code)) return code;
  }
  return undefined;
}
