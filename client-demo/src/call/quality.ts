/** The quality of each connection, as bars and in words. */
import type { Mesh, Peer, PeerStats, UserId } from '../../../src/client/index.ts';
import { createSvg, setText } from '../base/elements.ts';
import { texts } from '../texts/texts.ts';
import type { Meter } from './meter.ts';

/** 0: none, 1: poor, 2: fair, 3: good. */
type Grade = 0 | 1 | 2 | 3;

export interface Quality {
  readonly grade: Grade;
  readonly words: string;
}

const EVERY_MS = 3_000;
/** After the connection is up: before, there is nothing to measure. */
const FIRST_MS = 800;

/** Limits of fair and of poor quality. */
const FAIR = { roundTripMs: 250, lossRate: 0.03 };
const POOR = { roundTripMs: 500, lossRate: 0.1 };

export class QualityWatch {
  readonly #mesh: Mesh;
  readonly #meter: Meter;
  readonly #changed: () => void;
  readonly #timer: ReturnType<typeof setInterval>;
  #first: ReturnType<typeof setTimeout> | undefined;
  #qualities: ReadonlyMap<UserId, Quality> = new Map();

  constructor(mesh: Mesh, meter: Meter, changed: () => void) {
    this.#mesh = mesh;
    this.#meter = meter;
    this.#changed = changed;
    this.#timer = setInterval(() => void this.#look(), EVERY_MS);
    mesh.on('change', ({ state, userId }) => {
      if (state === 'connected' && !this.#qualities.get(userId)?.grade) this.#lookSoon();
    });
  }

  get qualities(): ReadonlyMap<UserId, Quality> {
    return this.#qualities;
  }

  stop(): void {
    clearInterval(this.#timer);
    clearTimeout(this.#first);
  }

  #lookSoon(): void {
    this.#first ??= setTimeout(() => {
      this.#first = undefined;
      void this.#look();
    }, FIRST_MS);
  }

  async #look(): Promise<void> {
    if (document.visibilityState === 'hidden') return;
    const peers = [...this.#mesh.peers.values()];
    this.#qualities = new Map(
      await Promise.all(peers.map(async (peer) => [peer.userId, await this.#qualityOf(peer)] as const)),
    );
    this.#changed();
  }

  async #qualityOf(peer: Peer): Promise<Quality> {
    const stats = await this.#meter.measure(peer);
    const grade = peer.state === 'connected' ? gradeOf(stats) : 0;
    return { grade, words: wordsOf(grade, stats) };
  }
}

function gradeOf({ roundTripMs, lossRate }: PeerStats): Grade {
  const isBeyond = (limit: typeof FAIR) => (roundTripMs ?? 0) > limit.roundTripMs || lossRate > limit.lossRate;
  return isBeyond(POOR) ? 1 : isBeyond(FAIR) ? 2 : 3;
}

function wordsOf(grade: Grade, { route, roundTripMs, lossRate, receivedBitsPerSecond }: PeerStats): string {
  const { grades, direct, relay, roundTrip, loss, rate, list } = texts.quality;
  const parts = [grades[grade] ?? ''];
  if (route !== null) parts.push(route === 'relay' ? relay : direct);
  if (roundTripMs !== null) parts.push(roundTrip(roundTripMs));
  if (grade > 0) parts.push(loss(lossRate), rate(receivedBitsPerSecond));
  return list(parts);
}

const BARS = ['M4 20v-5', 'M12 20V10', 'M20 20V5'];

/** Three bars, lit from the left. */
export class QualityBars {
  readonly element = createSvg('svg', { class: 'bars', viewBox: '0 0 24 24', role: 'img' });
  readonly #title = createSvg('title', {});

  constructor() {
    this.element.append(this.#title, ...BARS.map((d) => createSvg('path', { d })));
  }

  show(quality: Quality | null): void {
    this.element.toggleAttribute('hidden', quality === null);
    this.element.dataset['grade'] = String(quality?.grade ?? 0);
    // For screen readers, and as a tooltip.
    setText(this.#title, quality?.words ?? '');
  }
}
