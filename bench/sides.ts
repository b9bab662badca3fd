/** The two sides of a comparison, each a server in a process of its own. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';

export type SideName = 'ours' | 'bare';

export interface Side extends AsyncDisposable {
  readonly name: SideName;
  readonly url: string;
  readonly pid: number;
  /** Microseconds of processor time, user and system, since it was started. */
  cpu(): Promise<number>;
  /** Bytes, after the garbage was collected. */
  memory(): Promise<{ readonly rss: number; readonly heap: number }>;
}

const PROGRAM = new URL('./server.mjs', import.meta.url);

/** @param options of our side, beside those of every benchmark */
export async function startSide(name: SideName, redisUrl?: string, options: object = {}): Promise<Side> {
  if (!existsSync(new URL('../dist/index.js', import.meta.url))) throw new Error('nothing is built: npm run build');
  const child = fork(PROGRAM, [name, JSON.stringify({ ...options, ...(redisUrl !== undefined && { redisUrl }) })], {
    // Not the ones of this process, which belong to its TypeScript loader.
    execArgv: ['--expose-gc', ...(process.env['BENCH_NODE_OPTIONS']?.split(' ') ?? [])],
  });
  const { port } = (await answer(child)) as { port: number }; // the program's first words
  const ask = (question: 'cpu' | 'memory') => {
    child.send(question);
    return answer(child);
  };
  return {
    name,
    url: `http://127.0.0.1:${port}`,
    pid: child.pid ?? 0,
    cpu: async () => ((await ask('cpu')) as { microseconds: number }).microseconds,
    memory: async () => (await ask('memory')) as { rss: number; heap: number },
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null) return;
      const exited = once(child, 'exit');
      child.disconnect();
      await exited;
    },
  };
}

async function answer(child: ChildProcess): Promise<unknown> {
  const died = new AbortController();
  const exited = once(child, 'exit', { signal: died.signal }).then(() => {
    throw new Error('the server of a benchmark has ended');
  });
  try {
    const [said] = (await Promise.race([once(child, 'message'), exited])) as [unknown];
    return said;
  } finally {
    exited.catch(() => {});
    died.abort();
  }
}
