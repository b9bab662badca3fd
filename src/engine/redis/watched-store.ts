/** Runs the scripts of the engine, and watches whether Redis does everything that a node needs. */
import { createRunner } from '../../redis/cluster/runner.ts';
import type { RedisClients } from '../../redis/connect.ts';
import type { Script } from '../../redis/script.ts';
import type { Runner } from '../../redis/script-runner.ts';
import type { StoreClock } from '../../redis/store-clock.ts';
import { startWriteProbe } from '../../redis/write-probe.ts';
import { type Stop, systemClock } from '../../support/clock.ts';
import type { Log } from '../../support/log.ts';
import { createStoreLog } from '../../support/store-log.ts';
import { type Bus, redisChannel } from './bus.ts';
import type { Keys } from './keys.ts';
import { type MessageProbe, startMessageProbe } from './message-probe.ts';

export interface WatchedStoreOptions {
  readonly clients: RedisClients;
  readonly bus: Bus;
  readonly keys: Keys;
  /** Is told the time of Redis, again and again. */
  readonly storeClock: StoreClock;
  /** All that are run. */
  readonly scripts: readonly Script[];
  readonly deadlineMs: number;
  readonly log: Log;
}

export interface WatchedStore {
  /** Its health is that of the store. */
  readonly runner: Runner;
  readonly messages: MessageProbe;
  readonly stop: Stop;
}

export function watchStore(options: WatchedStoreOptions): WatchedStore {
  const { clients, bus, keys, storeClock, scripts, deadlineMs, log } = options;
  const messages = probeMessages(options, () => runner.updateHealth());
  const runner: Runner = createRunner({
    clock: systemClock,
    client: clients.state,
    deadlineMs,
    messageProblem: () => messageProblem(clients, bus, messages),
    onChange: createStoreLog(log, 'the store'),
    onNoPrimary: () => clients.reconnect(),
  });
  const stopWrites = startWriteProbe({
    runner,
    key: keys.probe,
    scripts,
    channel: keys.feedChannel,
    storeClock,
    clock: systemClock,
  });
  const stop = (): void => {
    stopWrites();
    messages.stop();
  };
  return { runner, messages, stop };
}

function probeMessages({ clients, bus, keys, log }: WatchedStoreOptions, onChange: () => void): MessageProbe {
  return startMessageProbe({
    pub: clients.pub,
    sub: clients.sub,
    channel: redisChannel(keys.socketPrefix, 'probe'),
    onChange: (error) => {
      if (error === undefined) bus.retry();
      else log.warn({ err: error }, 'Redis refuses to pass messages on');
      onChange();
    },
    clock: systemClock,
  });
}

/** Why messages of other nodes may be missing. */
function messageProblem({ pub, sub }: RedisClients, bus: Bus, { refusal }: MessageProbe): string | undefined {
  if (!pub.isReady || !sub.isReady) return 'no connection for messages';
  return refusal ?? (bus.refused ? 'a subscription is refused' : undefined);
}
