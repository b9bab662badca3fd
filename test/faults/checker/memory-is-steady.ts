/** The memory of a process does not grow from each quarter of its life to the next: it fills its heap, and then stays. */
import { type Law, listOf, type MemorySample } from './run.ts';

/** What is younger is still filling its heap. */
const MIN_LIFE_MS = 30_000;
const QUARTERS = 4;
/** From one quarter to the next. */
const GROWTH_BYTES = 32 * 2 ** 20;

export const memoryIsSteady: Law = ({ memory }) => {
  const processes = new Map<string, MemorySample[]>();
  for (const sample of memory) listOf(processes, sample.process).push(sample);
  return [...processes].flatMap(([process, samples]) => {
    const born = samples[0]?.at ?? 0;
    const at = samples.at(-1)?.at ?? 0;
    if (at - born < MIN_LIFE_MS) return [];
    // The least of each quarter: what is above may be garbage that has not been collected.
    const least = Array.from({ length: QUARTERS }, (_, quarter) =>
      Math.min(...samples.filter((it) => quarterOf(it.at, born, at) === quarter).map(({ bytes }) => bytes)),
    );
    const grows = least.slice(1).every((bytes, before) => bytes - (least[before] ?? 0) > GROWTH_BYTES);
    if (!grows) return [];
    const megabytes = least.map((bytes) => Math.round(bytes / 2 ** 20));
    return [{ at, text: `${process} held ${megabytes.join(', ')} MiB at least in the quarters of its life` }];
  });
};

const quarterOf = (at: number, from: number, until: number): number =>
  Math.min(QUARTERS - 1, Math.floor(((at - from) / (until - from)) * QUARTERS));
