/**
 * Reports faults of TURN servers, unless every peer is connected without them. Checked with a delay: at the beginning of a
 * call, no peer is connected yet.
 */
import type { IceFault, Mesh, Room } from '../../../src/client/index.ts';
import { texts } from '../texts/texts.ts';

const CHECK_DELAY_MS = 4_000;
/** STUN error code: the credentials are wrong or expired. */
const REFUSED = new Set([401, 403, 438]);

export class TurnFaults {
  readonly #room: Room;
  readonly #mesh: Mesh;
  readonly #isRelayOnly: boolean;
  readonly #say: (words: string | null) => void;
  #fault: IceFault | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** A mesh that is being closed may still report faults. */
  #isStopped = false;

  /** @param say shows a text; null removes it. */
  constructor(room: Room, mesh: Mesh, isRelayOnly: boolean, say: (words: string | null) => void) {
    this.#room = room;
    this.#mesh = mesh;
    this.#isRelayOnly = isRelayOnly;
    this.#say = say;
    mesh.on('fault', (fault) => {
      // Refused credentials take precedence: they point to a cause, a server without an answer does not.
      if (this.#fault === null || !REFUSED.has(this.#fault.code)) this.#fault = fault;
      this.#lookLater();
    });
    room.on('ice', () => {
      this.#fault = null;
    });
    for (const name of ['peer', 'change', 'gone'] as const) mesh.on(name, () => this.#changed());
    this.#changed();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  #changed(): void {
    if (this.#isStopped) return;
    if (this.#isEverybodyReached) this.#say(null);
    else this.#lookLater();
  }

  #lookLater(): void {
    if (this.#isStopped) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#say(this.#isEverybodyReached ? null : this.#words);
    }, CHECK_DELAY_MS);
  }

  get #isEverybodyReached(): boolean {
    return [...this.#mesh.peers.values()].every(
      ({ state, member }) => state === 'connected' || member.state === 'away',
    );
  }

  get #words(): string | null {
    const { relayRefused, relaySilent, relayMissing } = texts.connection;
    if (this.#isRelayOnly && !hasRelay(this.#room)) return relayMissing;
    if (this.#fault === null || !this.#fault.url.startsWith('turn')) return null;
    return REFUSED.has(this.#fault.code) ? relayRefused : relaySilent;
  }
}

const hasRelay = ({ iceServers }: Room): boolean =>
  iceServers.some(({ urls }) => urls.some((url) => url.startsWith('turn')));
