/**
 * The life of a Redis, its run id and replication id, as this node knows it for each shard. It goes with every command: a
 * script asks Redis itself only when its shard was written in another one.
 */
import { z } from 'zod';
import type { Command } from '../../room/commands.ts';
import { isUserCommand, shardOfCommand } from '../../room/rules.ts';

const tickReply = z.object({ life: z.string() });

export class Lives {
  readonly #ofShards = new Map<number, string>();

  of(command: Command): string | undefined {
    return isUserCommand(command) ? undefined : this.#ofShards.get(shardOfCommand(command));
  }

  /** Ticks ask Redis each time, and tell. */
  learn(command: Command, reply: unknown): void {
    if (command.kind !== 'tick') return;
    const { life } = tickReply.parse(JSON.parse(z.string().parse(reply)));
    this.#ofShards.set(command.shard, life);
  }

  /** To be called when a connection was lost. */
  forget(): void {
    this.#ofShards.clear();
  }
}
