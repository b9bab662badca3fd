/** The notice about the connection to the server. */
import type { ConnectionState, SignalboxError } from '../../src/client/index.ts';
import type { Notice } from './base/notice.ts';
import { failureText, texts } from './texts/texts.ts';

/** Shorter interruptions, such as the drain of a node, show no notice. */
const NOTICE_DELAY_MS = 1_500;

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
    else if (state === 'reconnecting') this.#timer = setTimeout(() => this.failed(), NOTICE_DELAY_MS);
    else if (state !== 'connecting') this.#notice.release('connection');
  }

  /** An attempt to connect has failed and the next one follows. */
  failed(error?: SignalboxError): void {
    const { lost, lostInLobby } = texts.connection;
    const general = this.#isInCall() ? lost : lostInLobby;
    const isSilence = error === undefined || error.code === 'UNREACHABLE' || error.code === 'TIMEOUT';
    this.#notice.hold('connection', isSilence ? general : failureText(error));
  }
}
