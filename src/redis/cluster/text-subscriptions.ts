/** Channels of a whole Cluster: each node passes on what is published at any of them, so one master is enough. */
import type { PlainClient, TextListener } from '../client.ts';
import type { Masters } from './masters.ts';

export class TextSubscriptions {
  readonly #masters: Masters;
  readonly #wanted = new Map<string, Set<TextListener>>();
  #at: PlainClient | undefined;

  constructor(masters: Masters) {
    this.#masters = masters;
  }

  /** To be called when a connection has come up or was lost. */
  converge(): void {
    if (this.#at?.isReady) return;
    const [client] = this.#masters.ready;
    this.#at = client;
    for (const [channel, listeners] of this.#wanted) {
      for (const listener of listeners) client?.subscribe(channel, listener).catch(() => {}); // lost again
    }
  }

  async add(channel: string, listener: TextListener): Promise<void> {
    this.#wanted.set(channel, (this.#wanted.get(channel) ?? new Set()).add(listener));
    if (this.#at?.isReady) await this.#at.subscribe(channel, listener);
    else this.converge();
  }

  async remove(channel: string, listener: TextListener): Promise<void> {
    const listeners = this.#wanted.get(channel);
    listeners?.delete(listener);
    if (listeners?.size === 0) this.#wanted.delete(channel);
    if (this.#at?.isReady) await this.#at.unsubscribe(channel, listener);
  }
}
