import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { executableOf } from '../../scripts/services.ts';
import { freePort, type RunningChild, startChild, temporaryFolder } from './process.ts';

export interface NginxOptions {
  /** `host:port` of every node. */
  upstreams: readonly string[];
}

export interface NginxServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
}

const deploy = fileURLToPath(new URL('../../deploy/', import.meta.url));

/** What docker-compose.yml must mount for the tests to mean anything. */
export const nginxConf = join(deploy, 'nginx.conf');

/** nginx with the very deploy/nginx.conf that docker-compose.yml mounts, in front of these nodes. */
export async function startNginx(options: NginxOptions): Promise<NginxServer> {
  const folder = await temporaryFolder();
  try {
    const port = await freePort();
    await layOut(folder.path, port, options.upstreams);
    const child = await launch(folder.path);
    return {
      url: `http://127.0.0.1:${port}`,
      port,
      pid: child.pid,
      [Symbol.asyncDispose]: async () => {
        await child.stop();
        await folder[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    await folder[Symbol.asyncDispose]();
    throw error;
  }
}

async function layOut(prefix: string, port: number, upstreams: readonly string[]): Promise<void> {
  // Workers run as another user and must reach their folders.
  await chmod(prefix, 0o755);
  // A link and not a copy: includes are searched beside the name that nginx was given.
  await symlink(nginxConf, join(prefix, 'nginx.conf'));
  await mkdir(join(prefix, 'signalbox'));
  await writeFile(join(prefix, 'signalbox/listen.conf'), `listen 127.0.0.1:${port};\n`);
  const parameters = await serverParameters();
  const servers = upstreams.map((address) => `server ${address} ${parameters};\n`);
  await writeFile(join(prefix, 'signalbox/servers.conf'), servers.join(''));
}

/** How compose treats a node that fails, so that tests see the same. */
async function serverParameters(): Promise<string> {
  const servers = await readFile(join(deploy, 'nginx/servers.conf'), 'utf8');
  const parameters = /^server \S+ (.*);$/m.exec(servers)?.[1];
  if (parameters === undefined) throw new Error('deploy/nginx/servers.conf has no server with parameters');
  return parameters;
}

function launch(prefix: string): Promise<RunningChild> {
  // One process: no worker survives when the tests are killed, and connections spread the same way every time.
  const settings = [`pid ${join(prefix, 'nginx.pid')}`, 'daemon off', 'master_process off', 'error_log stderr notice'];
  return startChild({
    command: executableOf('nginx'),
    args: ['-p', `${prefix}/`, '-c', join(prefix, 'nginx.conf'), '-e', 'stderr', '-g', `${settings.join('; ')};`],
    // Written after the sockets were opened.
    ready: /\[notice\].* getrlimit\(RLIMIT_NOFILE\)/,
    startMs: 10_000,
  });
}
