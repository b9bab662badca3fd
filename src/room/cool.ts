/** Codes that were released before the store lost its state go on cooling, as far as the nodes remember them. */
import type { Cool } from './commands.ts';
import type { Shard } from './shard.ts';
import type { RuleContext, RuleResult } from './transitions.ts';

export function cool(shard: Shard, { codes }: Cool, { now }: RuleContext): RuleResult<Cool> {
  const free = codes.filter(([code]) => !shard.rooms.has(code) && !shard.cooling.has(code));
  return {
    outcome: { ok: true },
    writes: { cooling: new Map(free.map(([code, forMs]) => [code, now + forMs])) },
  };
}
