/** A child process that issues references, and the numbers that it has issued. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('./worker.mjs', import.meta.url));

/** Consecutive numbers. */
export type Run = readonly [first: number, last: number];
export type Recipe = 'counted' | 'naive';

export interface WorkerOptions {
  readonly ledger: string;
  readonly redis?: string;
  /** Runs the naive generator as well. */
  readonly naive?: boolean;
  readonly outageMs?: number;
  /** Step at which it kills itself: `before lease`, `after lease`, and so on for `take` and `add`. */
  readonly dieAt?: string;
  readonly onIssued?: (recipe: Recipe, run: Run) => void;
}

export interface WorkerProcess extends AsyncDisposable {
  readonly pid: number;
  /** Issued by the counted generator. */
  readonly ranges: readonly Run[];
  /** Number of successful takes from Redis. */
  readonly takes: number;
  readonly refused: Readonly<Record<Recipe, number>>;
  /** The last reasons. */
  readonly reasons: readonly string[];
  readonly exited: Promise<unknown>;
  readonly running: boolean;
  /** Issues that many and resolves. */
  issue(count: number): Promise<void>;
  /** Issues batch after batch until it is paused. */
  run(batch: number, pauseMs?: number): void;
  pause(): Promise<void>;
  kill(): Promise<void>;
}

interface Message {
  readonly ready?: true;
  readonly done?: true;
  readonly recipe?: Recipe;
  readonly takes?: number;
  readonly ranges?: readonly Run[];
  readonly refused?: Recipe;
  readonly reason?: string;
}

export async function startWorker({ onIssued, ...options }: WorkerOptions): Promise<WorkerProcess> {
  const child = fork(PROGRAM, [JSON.stringify(options)], { execArgv: [], serialization: 'json' });
  const exited = once(child, 'exit');
  const ranges: Run[] = [];
  let takes = 0;
  const refused = { counted: 0, naive: 0 };
  const reasons: string[] = [];
  child.on('message', (message: Message) => {
    for (const run of message.ranges ?? []) {
      if (message.recipe === 'counted') ranges.push(run);
      if (message.recipe !== undefined) onIssued?.(message.recipe, run);
    }
    takes = message.takes ?? takes;
    if (message.refused === undefined) return;
    refused[message.refused] += 1;
    if (message.refused === 'counted' && message.reason !== undefined) reasons.push(message.reason);
  });
  await said(child, ({ ready }) => ready === true);
  const kill = async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await exited;
  };
  return {
    pid: child.pid ?? Number.NaN,
    ranges,
    get takes() {
      return takes;
    },
    get running() {
      return child.exitCode === null && child.signalCode === null;
    },
    refused,
    reasons,
    exited,
    issue(count) {
      child.send({ command: 'issue', count });
      return said(child, ({ done }) => done === true);
    },
    run: (batch, pauseMs = 0) => void child.send({ command: 'run', batch, pauseMs }),
    pause() {
      child.send({ command: 'pause' });
      return said(child, ({ done }) => done === true);
    },
    kill,
    [Symbol.asyncDispose]: kill,
  };
}

/** Resolves at a message of the child; rejects when the child exits before. */
function said(child: ChildProcess, isIt: (message: Message) => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (then: () => void) => {
      child.off('message', hear).off('exit', end);
      then();
    };
    const hear = (message: Message) => {
      if (isIt(message)) settle(resolve);
    };
    const end = () => settle(() => reject(new Error('a worker has ended')));
    child.on('message', hear).on('exit', end);
  });
}
