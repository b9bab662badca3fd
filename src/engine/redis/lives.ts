/**
 * The life of a Redis, its run id and replication id, as this node knows it for each shard. It goes with every command: a
 * script asks Redis itself only when its shard was written in another one. So does the epoch in which the node has
 * restored what it holds: a node that is behind is not told that something does not exist.
 */
import { z } from 'zod';
import type { Command } from '../../room/commands.ts';
import { isUserCommand, shardOfCommand } from '../../room/rules.ts';

const tickReply = z.object({ life: z.string() });

export class Lives {
  readonly #ofShards = new Map<number, string>();
  readonly #epochs = new Map<number, number>();

  /** What goes with a command. */
  of(command: Command): { readonly life?: string | undefined; readonly knownEpoch?: number | undefined } {
    if (isUserCommand(command)) return {};
    const shard = shardOfCommand(command);
    if (command.kind === 'tick' && command.knownEpoch !== undefined) this.#epochs.set(shard, command.knownEpoch);
    return { life: this.#ofShards.get(shard), knownEpoch: this.#epochs.get(shard) };
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
