/** What there is to say about the connection to the server. */
import type { ConnectionState } from '../../src/client/index.ts';
import type { Notice } from './base/notice.ts';
import { texts } from './texts/texts.ts';

/** A server that moves its clients elsewhere, and a network that changes, are over before anybody has read about them. */
const PATIENCE_MS = 1_500;

export class ConnectionNotice {
  readonly #notice: Notice;
  readonly #isInCall: () => boolean;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(notice: Notice, isInCall: () => boolean) {
    this.#notice = notice;
    this.#isInCall = isInCall;
  }

  show(state: ConnectionState): void {
    clearTimeout(this.#timer);
    if (state === 'offline') this.#notice.hold('connection', texts.connection.offline);
    else if (state === 'reconnecting') this.#timer = setTimeout(() => this.failed(), PATIENCE_MS);
    else if (state !== 'connecting') this.#notice.release('connection');
  }

  /** An attempt has come to nothing; the next one follows. */
  failed(): void {
    const { lost, lostInLobby } = texts.connection;
    this.#notice.hold('connection', this.#isInCall() ? lost : lostInLobby);
  }
}
