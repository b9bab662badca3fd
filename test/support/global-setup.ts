/**
 * Runs once before all tests: the services are on the machine, and what tests start or serve from dist/ is as new as
 * its sources.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureServices } from '../../scripts/services.ts';

interface Build {
  readonly name: string;
  readonly command: readonly string[];
  /** Nothing to build before this exists. */
  readonly entry: string;
  /** What tests open: not there when the build has failed, so that nobody tests an older one. */
  readonly product: string;
  readonly sources: readonly string[];
  readonly output: string;
  /** Parts of the output that other builds write. */
  readonly except?: readonly string[];
}

const root = fileURLToPath(new URL('../..', import.meta.url));

const builds: readonly Build[] = [
  {
    name: 'server',
    // Unchecked: a type error elsewhere must not keep a unit test from running; the type check has its own command.
    command: [process.execPath, 'scripts/build-server.mjs', '--unchecked'],
    entry: 'src/cli/main.ts',
    product: 'dist/cli/main.js',
    sources: ['src', 'scripts/build-server.mjs', 'tsconfig.json', 'tsconfig.build.json'],
    output: 'dist',
    except: ['client-demo', 'browser', 'api'],
  },
  {
    name: 'SDK for browsers',
    command: ['npm', 'run', '--silent', 'build:client'],
    entry: 'src/client/index.ts',
    product: 'dist/browser/signalbox.js',
    sources: ['src/client', 'src/protocol', 'scripts/build-client.mjs', 'package-lock.json'],
    output: 'dist/browser',
  },
  {
    name: 'demo page',
    command: ['npm', 'run', '--silent', 'build:demo'],
    entry: 'client-demo/index.html',
    product: 'dist/client-demo/index.html',
    sources: ['client-demo', 'src/protocol', 'src/client'],
    output: 'dist/client-demo',
  },
];

declare global {
  var signalboxSetup: Promise<void> | undefined;
}

/** Every part of the tests that needs it asks for it; it runs once. */
export default function setup(): Promise<void> {
  globalThis.signalboxSetup ??= prepare();
  return globalThis.signalboxSetup;
}

async function prepare(): Promise<void> {
  await ensureServices();
  for (const build of builds) if (isDue(build)) rebuild(build);
}

function isDue(build: Build): boolean {
  if (timesUnder(build.entry).length === 0) return false;
  if (timesUnder(build.product).length === 0) return true;
  const newestSource = Math.max(...build.sources.flatMap((path) => timesUnder(path)));
  // The oldest file decides: a build writes all of them, so an older one is left from an interrupted build.
  const oldestOutput = Math.min(...filesOf(build).map(({ time }) => time));
  return !Number.isFinite(oldestOutput) || newestSource >= oldestOutput;
}

function filesOf(build: Build): Entry[] {
  const others = (build.except ?? []).map((name) => `${join(build.output, name)}/`);
  return entriesUnder(build.output).filter(({ path, isFile }) => isFile && !others.some((it) => path.startsWith(it)));
}

/** A failure is told here and felt by the tests that need the product; the others run. */
function rebuild(build: Build): void {
  const [program = '', ...args] = build.command;
  const result = spawnSync(program, args, { cwd: root, encoding: 'utf8' });
  if (result.status === 0) return;
  rmSync(join(root, build.product), { force: true });
  const reason = result.error?.message ?? `${result.stdout}${result.stderr}`;
  process.stderr.write(`the ${build.name} did not build, so ${build.product} was removed:\n${reason}\n`);
}

interface Entry {
  readonly path: string;
  readonly time: number;
  readonly isFile: boolean;
}

/** Directories count too: deleting a file changes nothing but its directory. */
function timesUnder(path: string): number[] {
  return entriesUnder(path).map(({ time }) => time);
}

function entriesUnder(path: string): Entry[] {
  const stat = statSync(join(root, path), { throwIfNoEntry: false });
  if (stat === undefined) return [];
  const own = { path, time: stat.mtimeMs, isFile: stat.isFile() };
  if (!stat.isDirectory()) return [own];
  return [own, ...readdirSync(join(root, path)).flatMap((name) => entriesUnder(join(path, name)))];
}
