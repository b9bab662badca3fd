/** The connection to one sentinel. */
import { createClient } from 'redis';
import { withDeadline } from '../../support/deadline.ts';
import type { PlainClient } from '../client.ts';
import type { ServerAddress } from '../hosts-url.ts';

export interface SentinelSettings {
  readonly sentinels: readonly ServerAddress[];
  /** The name under which the sentinels know the primary and its replicas. */
  readonly masterName: string;
  /** Sentinels have users of their own. */
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly tls: boolean;
}

/** One that takes longer is passed over. */
const ANSWER_MS = 1_000;
/** Between two attempts to reach it. */
const RECONNECT_MS = 500;
/** A frozen one stays connected. It is asked once a second, so a healthy one is never silent for so long. */
const SILENCE_MS = 5_000;

export class SentinelConnection {
  readonly #client: PlainClient;
  readonly #masterName: string;
  /** Whether the first attempt to connect has succeeded or failed. */
  readonly #tried: Promise<void>;
  #error: Error | undefined;
  #asking: Promise<ServerAddress | undefined> | undefined;

  constructor({ host, port }: ServerAddress, { masterName, username, password, tls }: SentinelSettings) {
    this.#masterName = masterName;
    const timing = { connectTimeout: ANSWER_MS, socketTimeout: SILENCE_MS, reconnectStrategy: () => RECONNECT_MS };
    this.#client = createClient({
      // Sentinels answer without HELLO, which their users may not be permitted.
      RESP: 2,
      socket: tls ? { host, port, tls, ...timing } : { host, port, ...timing },
      ...(username !== undefined && { username }),
      ...(password !== undefined && { password }),
      commandOptions: { timeout: 0 },
      disableOfflineQueue: true,
      disableClientInfo: true,
      maintNotifications: 'disabled',
    }) as PlainClient; // the option literals narrow type parameters that no caller needs
    this.#client.on('error', (error: Error) => {
      this.#error = error;
    });
    this.#tried = new Promise((resolve) => {
      for (const event of ['ready', 'error'] as const) this.#client.once(event, () => resolve());
    });
    this.#client.connect().catch(() => {}); // closed before it was connected
  }

  /**
   * The address of the primary; undefined when this sentinel knows no primary of the name.
   *
   * @throws Error that says why it does not answer.
   */
  ask(): Promise<ServerAddress | undefined> {
    // Shared: before a frozen one, questions would pile up.
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
    });
    return withDeadline(this.#asking, ANSWER_MS, () => new Error('no reply'));
  }

  close(): void {
    this.#client.destroy();
  }

  async #ask(): Promise<ServerAddress | undefined> {
    await this.#tried;
    if (!this.#client.isReady) throw this.#error ?? new Error('not connected');
    const reply: unknown = await this.#client.sendCommand(['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', this.#masterName]);
    if (!Array.isArray(reply)) return undefined;
    return { host: String(reply[0]), port: Number(reply[1]) };
  }
}
