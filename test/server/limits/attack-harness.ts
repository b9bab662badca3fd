/** A server under attack, in its own process, and two peers whose signals must continue to arrive. */
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import type { PartialOptions } from '../../../src/server/options/options.ts';
import type { RawSocket } from '../../support/raw-socket.ts';
import { type SignalExchange, startSignalExchange } from '../../support/signal-exchange.ts';
import { type SignalboxProcess, startSignalbox } from '../../support/signalbox.ts';

/** No rate limits: the attacks are faster, and the limits have their own tests. */
const UNTHROTTLED: PartialOptions = { eventsPerSecond: 1_000_000, eventsBurst: 1_000_000, freeMisses: 1_000_000 };
/** Maximum growth of the process during the attacks: uncollected garbage of a busy minute. */
const MAX_GROWTH_BYTES = 150 * 1024 * 1024;

export interface AttackTarget {
  readonly server: SignalboxProcess;
  readonly witness: SignalExchange;
  readonly port: number;
}

/** Starts server and peers before the tests of a file, checks both after every test, and ends them after the last. */
export function startAttackTarget(options: PartialOptions = {}): AttackTarget {
  let server: SignalboxProcess | undefined;
  let witness: SignalExchange | undefined;
  let bytes = 0;
  const the = <Thing>(thing: Thing | undefined): Thing => {
    if (thing === undefined) throw new Error('the server has not been started yet');
    return thing;
  };

  beforeAll(async () => {
    server = await startSignalbox({ ...UNTHROTTLED, secret: 'a secret of these tests', ...options });
    witness = await startSignalExchange(server.url);
    await witness.continues();
    bytes = server.residentBytes();
  });

  afterEach(async () => {
    await the(witness).continues();
    // The original process still runs and answers.
    expect(the(server).child.running).toBe(true);
    expect(await healthOf(the(server))).toBe(200);
    expect(the(server).residentBytes() - bytes).toBeLessThan(MAX_GROWTH_BYTES);
    // No fault and no unhandled rejection was logged.
    expect(
      the(server)
        .logs()
        .filter(({ level }) => level >= 50),
    ).toEqual([]);
  });

  afterAll(async () => {
    await witness?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
  });

  return {
    get server() {
      return the(server);
    },
    get witness() {
      return the(witness);
    },
    get port() {
      return the(server).port;
    },
  };
}

const healthOf = async ({ url }: SignalboxProcess): Promise<number> => (await fetch(`${url}/healthz`)).status;

/** Checks that the connection still gets replies. */
export async function expectAlive(socket: RawSocket): Promise<void> {
  expect(await socket.ask('room:leave', {})).toEqual({ ok: true });
}
