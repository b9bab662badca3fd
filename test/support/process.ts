import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** util-linux. With it the kernel ends the child when its test worker dies, even by SIGKILL; an exit hook cannot do that. */
const SETPRIV = '/usr/bin/setpriv';

export interface ChildOptions {
  command: string;
  args?: readonly string[];
  cwd?: string;
  /** Added to the environment of the tests; `undefined` takes a variable away. */
  env?: Readonly<Record<string, string | undefined>>;
  /** The child counts as started when a line of its output matches; without it, when it was spawned. */
  ready?: RegExp;
  /** How long a child may take to become ready. */
  startMs?: number;
  /** How long `stop()` waits after SIGTERM before it kills. */
  stopMs?: number;
}

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface RunningChild extends AsyncDisposable {
  readonly pid: number;
  /** Everything it wrote to stdout and stderr so far, line by line. */
  readonly lines: readonly string[];
  readonly exited: Promise<Exit>;
  readonly running: boolean;
  signal(signal: NodeJS.Signals): void;
  /** Resolves with the first line, past or future, that matches; rejects when the child ends or the time is over. */
  line(pattern: RegExp, timeoutMs?: number): Promise<string>;
  /** SIGTERM, then SIGKILL for one that does not listen. */
  stop(): Promise<Exit>;
  /** SIGKILL. */
  kill(): Promise<Exit>;
}

/** Starts a child process that owns itself: `await using child = await startChild(...)`. */
export async function startChild(options: ChildOptions): Promise<RunningChild> {
  const child = await spawned(options);
  const running = new Running(child, options.stopMs ?? 5_000);
  if (options.ready === undefined) return running;
  try {
    await running.line(options.ready, options.startMs ?? 20_000);
    return running;
  } catch (error) {
    await running.kill();
    throw error;
  }
}

/** A port of 127.0.0.1 that was free a moment ago. Prefer port 0 where the program can say which one it got. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo; // a TCP server has no other kind of address
      server.close(() => resolve(port));
    });
  });
}

export interface TemporaryFolder extends AsyncDisposable {
  readonly path: string;
}

export async function temporaryFolder(): Promise<TemporaryFolder> {
  const path = await mkdtemp(join(tmpdir(), 'signalbox-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

class Running implements RunningChild {
  readonly pid: number;
  readonly lines: string[] = [];
  readonly exited: Promise<Exit>;
  running = true;
  readonly #child: ChildProcess;
  readonly #stopMs: number;
  readonly #watchers = new Set<(line: string) => void>();

  constructor(child: ChildProcess, stopMs: number) {
    if (child.pid === undefined) throw new Error('a spawned child has a process id');
    this.pid = child.pid;
    this.#child = child;
    this.#stopMs = stopMs;
    const onWorkerExit = (): void => void child.kill('SIGKILL');
    process.once('exit', onWorkerExit);
    this.exited = new Promise((resolve) => {
      // `close`, not `exit`: by then the last line of output has been read.
      child.once('close', (code, signal) => {
        this.running = false;
        process.off('exit', onWorkerExit);
        resolve({ code, signal });
      });
    });
    for (const stream of [child.stdout, child.stderr]) {
      if (stream) createInterface({ input: stream }).on('line', (line) => this.#read(line));
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  line(pattern: RegExp, timeoutMs = 20_000): Promise<string> {
    const past = this.lines.find((line) => pattern.test(line));
    if (past !== undefined) return Promise.resolve(past);
    return new Promise((resolve, reject) => {
      const settle = (then: () => void): void => {
        clearTimeout(timer);
        this.#watchers.delete(watcher);
        then();
      };
      const fail = (why: string): void =>
        settle(() => reject(new Error(`process ${this.pid} ${why} without a line ${pattern}:\n${this.#tail()}`)));
      const watcher = (line: string): void => {
        if (pattern.test(line)) settle(() => resolve(line));
      };
      const timer = setTimeout(() => fail(`ran ${timeoutMs} ms`), timeoutMs);
      this.#watchers.add(watcher);
      void this.exited.then((exit) => fail(`ended (${exit.signal ?? exit.code})`));
    });
  }

  async stop(): Promise<Exit> {
    this.signal('SIGTERM');
    this.signal('SIGCONT'); // a frozen process does not see SIGTERM
    const timer = setTimeout(() => this.signal('SIGKILL'), this.#stopMs);
    const exit = await this.exited;
    clearTimeout(timer);
    return exit;
  }

  kill(): Promise<Exit> {
    this.signal('SIGKILL');
    return this.exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.running) await this.stop();
  }

  #read(line: string): void {
    this.lines.push(line);
    for (const watcher of this.#watchers) watcher(line);
  }

  #tail(): string {
    return this.lines.slice(-20).join('\n');
  }
}

function spawned(options: ChildOptions): Promise<ChildProcess> {
  const { command, args = [], cwd, env } = options;
  const bound = process.platform === 'linux' && existsSync(SETPRIV);
  const [file, argv] = bound ? [SETPRIV, ['--pdeathsig', 'KILL', '--', command, ...args]] : [command, [...args]];
  return new Promise((resolve, reject) => {
    const child = spawn(file, argv, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
      ...(cwd === undefined ? {} : { cwd }),
    });
    child.once('error', reject);
    child.once('spawn', () => resolve(child));
  });
}
