/** Asks several sentinels which server is the primary, again and again. */
import { type Clock, type Stop, systemClock } from '../../support/clock.ts';
import { isSameServer, type ServerAddress } from '../hosts-url.ts';
import { SentinelConnection, type SentinelSettings } from './connection.ts';

export interface Sentinels {
  /**
   * The addresses to try: the one that a majority names; else all that are named, the most named one first, and then the
   * one that was last known to be a primary.
   *
   * @throws Error with what they replied when there is none.
   */
  candidates(known?: ServerAddress): Promise<readonly [ServerAddress, ...ServerAddress[]]>;
  /** Calls with what a majority names, once a second. They are connected while somebody watches. */
  watch(listener: (primary: ServerAddress) => void): Stop;
  /** Whether at least one answered when they were last asked. */
  readonly answer: boolean;
}

export interface SentinelsOptions extends SentinelSettings {
  /** They have stopped to answer, with the reason, or one answers again. */
  readonly onAnswer?: (answer: boolean, reason: string) => void;
  readonly clock?: Pick<Clock, 'every'>;
}

const ASK_EVERY_MS = 1_000;

export function createSentinels(options: SentinelsOptions): Sentinels {
  const { sentinels, masterName, onAnswer, clock = systemClock } = options;
  const listeners = new Set<(primary: ServerAddress) => void>();
  const majority = Math.floor(sentinels.length / 2) + 1;
  let connections: readonly SentinelConnection[] = [];
  let stop: Stop = () => {};
  let answer = true;
  const ask = async (): Promise<Poll> => {
    const poll = await pollAll(connections, majority);
    const answered = poll.named.length > 0 || poll.unknown;
    if (answered !== answer && listeners.size > 0) {
      answer = answered;
      onAnswer?.(answer, poll.reasons.join('; '));
    }
    return poll;
  };
  const look = async (): Promise<void> => {
    const [first] = (await ask()).named;
    if (first === undefined || first.count < majority) return;
    for (const listener of listeners) listener(first.address);
  };
  return {
    get answer() {
      return answer;
    },
    async candidates(known) {
      const { named, unknown, reasons } = await ask();
      const [first, ...others] = named;
      if (first !== undefined && first.count >= majority) return [first.address];
      const last = known === undefined ? [] : [known];
      if (first !== undefined) return [first.address, ...others.map(({ address }) => address), ...last];
      if (known !== undefined) return [known];
      if (unknown) throw new Error(`no sentinel knows a primary of the name "${masterName}"`);
      throw new Error(`no sentinel answers: ${reasons.join('; ')}`);
    },
    watch(listener) {
      listeners.add(listener);
      if (listeners.size === 1) {
        connections = sentinels.map((address) => new SentinelConnection(address, options));
        stop = clock.every(ASK_EVERY_MS, () => void look());
      }
      return () => {
        if (!listeners.delete(listener) || listeners.size > 0) return;
        stop();
        for (const connection of connections) connection.close();
        connections = [];
      };
    },
  };
}

interface Vote {
  readonly address: ServerAddress;
  count: number;
}

interface Poll {
  /** The most named one first. */
  readonly named: readonly Vote[];
  /** Whether one has answered that it does not know the name. */
  readonly unknown: boolean;
  /** Of those that have not answered, each once. */
  readonly reasons: readonly string[];
}

/** Ends as soon as a majority agrees: then a frozen sentinel costs no time. Never rejects. */
function pollAll(connections: readonly SentinelConnection[], majority: number): Promise<Poll> {
  const votes: Vote[] = [];
  const reasons = new Set<string>();
  let unknown = false;
  let left = connections.length;
  return new Promise((resolve) => {
    const settle = (): void => {
      if (left > 0 && !votes.some(({ count }) => count >= majority)) return;
      const named = votes.toSorted((one, other) => other.count - one.count);
      resolve({ named, unknown, reasons: [...reasons] });
    };
    const count = (address: ServerAddress | undefined): void => {
      const vote = address && votes.find((it) => isSameServer(it.address, address));
      if (address === undefined) unknown = true;
      else if (vote === undefined) votes.push({ address, count: 1 });
      else vote.count += 1;
    };
    const fail = (error: unknown): void => void reasons.add(error instanceof Error ? error.message : String(error));
    for (const connection of connections) {
      void connection
        .ask()
        .then(count, fail)
        .finally(() => {
          left -= 1;
          settle();
        });
    }
    settle();
  });
}
