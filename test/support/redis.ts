import { execFileSync } from 'node:child_process';
import { freePort, type RunningChild, startChild, type TemporaryFolder, temporaryFolder } from './process.ts';

export interface RedisOptions {
  /** More arguments for redis-server, after ours: the last one of a name wins. */
  args?: readonly string[];
}

export interface RedisServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** SIGSTOP: connections stay open, nothing answers. */
  freeze(): void;
  /** SIGCONT */
  thaw(): void;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
  /** Starts again on the same port, empty. Ends it first when it still runs. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** A real redis-server of one's own on a free port, without persistence. */
export async function startRedis(options: RedisOptions = {}): Promise<RedisServer> {
  demandRedis();
  const folder = await temporaryFolder();
  try {
    const { port, server } = await launchSomewhere(folder.path, options);
    return owned(port, server, folder, options);
  } catch (error) {
    await folder[Symbol.asyncDispose]();
    throw error;
  }
}

function owned(port: number, first: RunningChild, folder: TemporaryFolder, options: RedisOptions): RedisServer {
  let server = first;
  const stop = async (): Promise<void> => {
    await server.kill(); // it has nothing to save
    await folder[Symbol.asyncDispose]();
  };
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    get pid() {
      return server.pid;
    },
    freeze: () => server.signal('SIGSTOP'),
    thaw: () => server.signal('SIGCONT'),
    kill: async () => void (await server.kill()),
    restart: async () => {
      await server.kill();
      server = await launch(port, folder.path, options);
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** A free port can be taken between asking and binding, which is nobody's fault: a second and a third try. */
async function launchSomewhere(
  folder: string,
  options: RedisOptions,
  tries = 3,
): Promise<{ port: number; server: RunningChild }> {
  const port = await freePort();
  try {
    return { port, server: await launch(port, folder, options) };
  } catch (error) {
    if (tries === 1) throw error;
    return launchSomewhere(folder, options, tries - 1);
  }
}

function launch(port: number, folder: string, options: RedisOptions): Promise<RunningChild> {
  const network = ['--port', String(port), '--bind', '127.0.0.1'];
  const memory = ['--dir', folder, '--save', '', '--appendonly', 'no', '--maxmemory-policy', 'noeviction'];
  return startChild({
    command: 'redis-server',
    args: [...network, ...memory, '--daemonize', 'no', ...(options.args ?? [])],
    ready: /Ready to accept connections/,
    startMs: 10_000,
  });
}

function demandRedis(): void {
  try {
    execFileSync('redis-server', ['--version'], { stdio: 'ignore' });
  } catch (error) {
    throw new Error('these tests need a real redis-server (7 or newer) on the PATH: apt-get install redis-server', {
      cause: error,
    });
  }
}
