/** The processes of the clients, seen from the run. */
import { type ChildProcess, fork } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { ClientEntry } from '../checker/run.ts';
import type { Order, Start } from './worker.ts';

const PROGRAM = fileURLToPath(new URL('./worker.ts', import.meta.url));

export interface Worker {
  /** Resolves when it is done. */
  tell(order: Order): Promise<void>;
  /** SIGKILL: all its clients are gone at once, without a word. */
  kill(): Promise<void>;
  entries(): Promise<ClientEntry[]>;
}

export async function startWorker(start: Start): Promise<Worker> {
  const child = fork(PROGRAM, { execArgv: ['--import', 'tsx'], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const tell = (order: Order): Promise<void> => told(child, gone, order);
  await tell({ order: 'start', start });
  return {
    tell,
    kill: async () => {
      child.kill('SIGKILL');
      await gone;
    },
    entries: async () => readJournal(start.journal),
  };
}

function told(child: ChildProcess, gone: Promise<void>, order: Order): Promise<void> {
  return Promise.race([
    new Promise<void>((resolve, reject) => {
      child.once('message', () => resolve());
      child.send(order, (error) => error && reject(error));
    }),
    gone.then(() => Promise.reject(new Error('a process of clients has ended'))),
  ]);
}

async function readJournal(path: string): Promise<ClientEntry[]> {
  const text = await readFile(path, 'utf8');
  // The last line of a killed worker may be cut.
  const whole = text.slice(0, text.lastIndexOf('\n'));
  return whole === '' ? [] : whole.split('\n').map((line): ClientEntry => JSON.parse(line));
}
