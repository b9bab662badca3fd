/** The command line as its users run it: in a process of its own, built. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { flagOf } from '../../src/cli/option-spellings.ts';
import type { PartialOptions } from '../../src/server/options/options.ts';
import { type RunningChild, startChild, temporaryFolder } from './process.ts';

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
/** A start takes half a second; on a busy machine, several. */
const START_MS = 30_000;

type Environment = Readonly<Record<string, string | undefined>>;

export interface SignalboxProcess extends AsyncDisposable {
  readonly child: RunningChild;
  readonly port: number;
  readonly url: string;
  /** What it logged, as far as it is JSON. */
  logs(): { level: number; msg: string; [field: string]: unknown }[];
  /** Bytes of memory that the process has in use. */
  residentBytes(): number;
}

type Given = PartialOptions & { readonly logLevel?: string };

/**
 * `signalbox serve` on a free port of 127.0.0.1; resolves when it has printed its address.
 *
 * @param main another build of the program
 */
export async function startSignalbox(
  options: Given = {},
  env: Environment = {},
  main: string = MAIN,
): Promise<SignalboxProcess> {
  // The last line of the printed block: what comes before it is complete then.
  const { child, removed } = await launch(options, env, main, /^ {2}codes /);
  const port = Number(/:(\d+)$/.exec(await child.line(/^ {2}address /))?.[1]);
  return {
    child,
    port,
    url: `http://127.0.0.1:${port}`,
    logs: () => child.lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line)),
    residentBytes: () => residentBytes(child.pid),
    async [Symbol.asyncDispose]() {
      await child[Symbol.asyncDispose]();
      await removed;
    },
  };
}

/** The same, but resolves as soon as the process is there. */
export async function beginSignalbox(options: Given = {}): Promise<RunningChild> {
  return (await launch(options, {}, MAIN)).child;
}

async function launch(options: Given, env: Environment, main: string, ready?: RegExp) {
  // What one server keeps is not what another test means.
  const folder = await temporaryFolder();
  // No load balancer is told before a node ends.
  const given = { host: '127.0.0.1', port: 0, demo: false, dataDir: folder.path, drainReadyMs: 0, ...options };
  const child = await startChild({
    command: process.execPath,
    args: [main, 'serve', ...Object.entries(given).flatMap(([name, value]) => [flagOf(name), String(value)])],
    env: { ...nothingOfOurs(), ...env },
    ...(ready && { ready }),
    startMs: START_MS,
    stopMs: 15_000,
  });
  // However it ends: many a test kills it.
  const removed = child.exited.then(() => folder[Symbol.asyncDispose]());
  return { child, removed };
}

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `signalbox` to its end, in a folder of its own. */
export async function runSignalbox(args: readonly string[], env: Environment = {}): Promise<Ended> {
  await using folder = await temporaryFolder();
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { ...process.env, ...nothingOfOurs(), ...env },
    cwd: folder.path,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: START_MS,
    killSignal: 'SIGKILL',
  });
  const code = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await code, stdout, stderr };
}

/** What the developer has set for their own server is not what the tests mean. */
function nothingOfOurs(): Environment {
  const ours = Object.keys(process.env).filter((name) => name.startsWith('SIGNALBOX_'));
  const plain = ['PORT', 'HOST', 'REDIS_URL', 'DATABASE_URL', 'TURN_SECRET'];
  return Object.fromEntries([...ours, ...plain].map((name) => [name, undefined]));
}

function residentBytes(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) * 1024;
}
