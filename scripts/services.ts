/**
 * The programs that tests and benchmarks start by themselves. Debian has each of them, so where apt-get may be used the
 * missing ones are installed; elsewhere one line says what to install. A test that cannot run is never skipped.
 */
import { execFile, spawn, spawnSync } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

export type Service =
  | 'redis-server'
  | 'chromium'
  | 'nginx'
  | 'coturn'
  | 'postgresql'
  | 'mariadb'
  | 'python'
  | 'openssl'
  | 'faketime';

interface Origin {
  readonly debian: string;
  readonly homebrew: string;
  /** File names on the search path, then absolute paths where an installer puts it outside of the path. */
  readonly names: readonly string[];
  /** Oldest major version that will do, with the option that prints it. */
  readonly atLeast?: number;
  /** What a program of Python must be able to import. */
  readonly imports?: string;
}

const origins: Readonly<Record<Service, Origin>> = {
  // Older ones have no sharded publish and subscribe.
  'redis-server': { debian: 'redis-server', homebrew: 'redis', names: ['redis-server'], atLeast: 7 },
  chromium: {
    debian: 'chromium',
    homebrew: '--cask chromium',
    names: [
      'chromium',
      'google-chrome',
      '/Applications/Chromium.app/Contents/MacOS/Chromium',
      '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    ],
  },
  nginx: { debian: 'nginx-light', homebrew: 'nginx', names: ['nginx'] },
  coturn: { debian: 'coturn', homebrew: 'coturn', names: ['turnserver'] },
  // The server lies beside initdb, and Debian puts neither on the path.
  postgresql: {
    debian: 'postgresql',
    homebrew: 'postgresql@17',
    names: [
      'initdb',
      ...[18, 17, 16, 15, 14].map((version) => `/usr/lib/postgresql/${version}/bin/initdb`),
      '/opt/homebrew/opt/postgresql@17/bin/initdb',
    ],
  },
  // The part of mariadb-server that is the program, without the daemon that Debian would set up beside it.
  mariadb: { debian: 'mariadb-server-core', homebrew: 'mariadb', names: ['mariadbd'] },
  // Makes the certificates of receivers that are called over TLS.
  openssl: { debian: 'openssl', homebrew: 'openssl', names: ['openssl'] },
  // Sets the clock of one process, by a library that Debian's package brings along.
  faketime: { debian: 'faketime', homebrew: 'libfaketime', names: ['faketime'] },
  // Debian's own comes first: others on the path do not see what its packages bring.
  python: {
    debian: 'python3-socketio python3-websocket',
    homebrew: 'python && pip3 install "python-socketio[client]"',
    names: ['/usr/bin/python3', 'python3'],
    imports: 'socketio, websocket',
  },
};

// A plain user's path often lacks sbin, where Debian keeps nginx.
const { PATH = '' } = process.env;
const searchPath = `${PATH}:/usr/local/sbin:/usr/sbin:/usr/local/bin:/usr/bin:/opt/homebrew/bin`
  .split(delimiter)
  .filter((directory) => directory !== '');

const run = promisify(execFile);

/** Resolves when every service can be started. Rejects with one line that says what to install. */
export async function ensureServices(report: (line: string) => void = toStderr): Promise<void> {
  const missing = missingServices();
  if (missing.length > 0) {
    const fault = await install(missing, report);
    const still = missingServices();
    if (still.length > 0) throw new Error(`${still.join(', ')} not found${fault}: ${advice(still)}`);
  }
  await checkVersion('redis-server');
}

/** The path of a service's program. */
export function executableOf(service: Service): string {
  const path = find(service);
  if (path === undefined) throw new Error(`${service} not found: ${advice([service])}`);
  return path;
}

function missingServices(): Service[] {
  return services().filter((service) => find(service) === undefined);
}

function services(): Service[] {
  return Object.keys(origins) as Service[]; // the record's own keys
}

function find(service: Service): string | undefined {
  const { names, imports } = origins[service];
  const candidates = names.flatMap((name) =>
    name.startsWith('/') ? [name] : searchPath.map((directory) => join(directory, name)),
  );
  return candidates.find((path) => isExecutable(path) && (imports === undefined || canImport(path, imports)));
}

const canImport = (python: string, modules: string): boolean =>
  spawnSync(python, ['-c', `import ${modules}`], { stdio: 'ignore' }).status === 0;

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

async function checkVersion(service: Service): Promise<void> {
  const { atLeast } = origins[service];
  if (atLeast === undefined) return;
  const path = executableOf(service);
  const { stdout } = await run(path, ['--version']);
  const version = /(\d+)\.\d+(\.\d+)?/.exec(stdout);
  if (version === null || Number(version[1]) < atLeast) {
    throw new Error(`${path} is version ${version?.[0] ?? 'unknown'}, but ${service} ${atLeast} or newer is needed`);
  }
}

/** Tries to install; answers why it could not, ready to stand inside a sentence, or nothing. */
async function install(missing: readonly Service[], report: (line: string) => void): Promise<string> {
  const apt = await aptGet();
  if (apt === undefined) return '';
  const packages = missing.flatMap((service) => origins[service].debian.split(' '));
  report(`installing ${packages.join(', ')} from the distribution's packages`);
  const started = Date.now();
  const ticker = setInterval(() => report(`still installing, ${seconds(started)}`), 10_000);
  try {
    // A failed update is no reason to give up: the lists of an earlier one may still do.
    await output(apt, ['update']);
    // The exit code is not asked: a package whose daemon cannot start here counts as failed, yet its program is in place.
    const result = await output(apt, ['install', '--yes', '--no-install-recommends', ...packages]);
    report(`apt-get ended after ${seconds(started)}`);
    return result.code === 0 ? '' : ` (apt-get: ${lastLine(result.text)})`;
  } finally {
    clearInterval(ticker);
  }
}

/** The command that runs apt-get with enough rights and without questions, where there is one. */
async function aptGet(): Promise<readonly string[] | undefined> {
  const path = searchPath.map((directory) => join(directory, 'apt-get')).find(isExecutable);
  if (path === undefined) return undefined;
  // Nothing that is being installed is to start: the tests start their own. Init scripts heed the one, systemd the other.
  const quiet = ['DEBIAN_FRONTEND=noninteractive', 'RUNLEVEL=1', 'SYSTEMD_OFFLINE=1'];
  const command = ['env', ...quiet, path, '-qq', '-o', 'DPkg::Lock::Timeout=120'];
  if (process.getuid?.() === 0) return command;
  const maySudo = await run('sudo', ['-n', 'true']).then(
    () => true,
    () => false,
  );
  return maySudo ? ['sudo', '-n', ...command] : undefined;
}

function output(command: readonly string[], args: readonly string[]): Promise<{ code: number | null; text: string }> {
  const [program = '', ...leading] = command;
  return new Promise((resolve, reject) => {
    const child = spawn(program, [...leading, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    let text = '';
    const collect = (chunk: Buffer) => {
      text += chunk.toString();
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.once('error', reject);
    // `exit`, not `close`: a daemon that a package started would hold the pipes open.
    child.once('exit', (code) => resolve({ code, text }));
  });
}

function advice(missing: readonly Service[]): string {
  const wanted = missing.map((service) => origins[service]);
  return process.platform === 'darwin'
    ? `run ${wanted.map(({ homebrew }) => `brew install ${homebrew}`).join(' && ')}`
    : `run apt-get install ${wanted.map(({ debian }) => debian).join(' ')} as root`;
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}

function seconds(since: number): string {
  return `${Math.round((Date.now() - since) / 1_000)} s`;
}

function toStderr(line: string): void {
  process.stderr.write(`services: ${line}\n`);
}
