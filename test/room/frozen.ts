/** What the rules are given in tests cannot be changed: a rule that tries throws. */
import type { Shard } from '../../src/room/shard.ts';

export function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.values(value).forEach(deepFreeze);
  return Object.freeze(value);
}

export const frozenShard = (shard: Shard): Shard => ({
  rooms: frozenMap(shard.rooms),
  cooling: frozenMap(shard.cooling),
  idempotency: frozenMap(shard.idempotency),
  moved: frozenMap(shard.moved),
  meta: deepFreeze(shard.meta),
});

/** `Object.freeze` does not keep a Map from being written. */
function frozenMap<Key, Value>(map: ReadonlyMap<Key, Value>): ReadonlyMap<Key, Value> {
  const refuse = () => {
    throw new TypeError('a rule has written into the state it was given');
  };
  const copy = new Map([...map].map(([key, value]) => [key, deepFreeze(value)] as const));
  return Object.assign(copy, { set: refuse, delete: refuse, clear: refuse });
}
