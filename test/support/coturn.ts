import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { executableOf } from '../../scripts/services.ts';
import { freePort, type RunningChild, startChild, temporaryFolder } from './process.ts';

export interface CoturnOptions {
  /** Every secret that it knows. */
  readonly secrets: readonly string[];
  /** A configuration file to run with; without one, it relays over loopback, which no other may. */
  readonly conf?: string;
  /** More arguments, after ours: the last one of a name wins. */
  readonly args?: readonly string[];
}

export interface Coturn extends AsyncDisposable {
  readonly port: number;
  readonly pid: number;
  /** What it printed, line by line. */
  readonly lines: readonly string[];
  /** Resolves with the first line, past or future, that matches. */
  line(pattern: RegExp): Promise<string>;
  url(transport: 'udp' | 'tcp'): string;
}

/** A real turnserver of one's own, on 127.0.0.1 alone. */
export async function startCoturn(options: CoturnOptions): Promise<Coturn> {
  const folder = await temporaryFolder();
  try {
    const { port, child } = await launchSomewhere(folder.path, options);
    return {
      port,
      pid: child.pid,
      lines: child.lines,
      line: (pattern) => child.line(pattern),
      url: (transport) => `turn:127.0.0.1:${port}?transport=${transport}`,
      [Symbol.asyncDispose]: async () => {
        await child.kill(); // it has nothing to save
        await folder[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    await folder[Symbol.asyncDispose]();
    throw error;
  }
}

/** A free port can be taken between asking and binding, and may be free for TCP alone: a second and a third try. */
async function launchSomewhere(
  folder: string,
  options: CoturnOptions,
  tries = 3,
): Promise<{ port: number; child: RunningChild }> {
  const port = await freePort();
  try {
    return { port, child: await launch(folder, port, options) };
  } catch (error) {
    if (tries === 1) throw error;
    return launchSomewhere(folder, options, tries - 1);
  }
}

function launch(folder: string, port: number, { secrets, conf, args = [] }: CoturnOptions): Promise<RunningChild> {
  const network = ['--listening-ip=127.0.0.1', '--relay-ip=127.0.0.1', `--listening-port=${port}`, ...relayPorts()];
  const files = ['--log-file=stdout', `--pidfile=${join(folder, 'pid')}`, `--userdb=${join(folder, 'users')}`];
  return startChild({
    command: executableOf('coturn'),
    args: [
      ...(conf === undefined ? LOOPBACK : ['-c', conf]),
      ...network,
      ...files,
      ...secrets.map((secret) => `--static-auth-secret=${secret}`),
      ...args,
    ],
    // The last thing it does, when the sockets that listen are open. Asked for an allocation while the tables of its own
    // that it does not need are being made, it refuses every credential.
    ready: /SQLite DB connection success/,
    startMs: 20_000,
  });
}

/** The exception that lets a test relay to itself is here, and in no file that is deployed. */
const LOOPBACK =
  '-n --use-auth-secret --realm=signalbox --fingerprint --allow-loopback-peers --no-cli --no-tls --no-dtls'.split(' ');

const RELAY_PORTS = 100;

/** Below those that the system gives away, and seldom those of another test: a port that is taken is passed over. */
function relayPorts(): string[] {
  const first = 10_000 + RELAY_PORTS * randomInt(200);
  return [`--min-port=${first}`, `--max-port=${first + RELAY_PORTS - 1}`];
}
