/** Reads what the processes of the nodes hold of the memory of the machine. */
import type { MemorySample } from '../checker/run.ts';
import { machineMs } from '../clients/journal.ts';
import type { ChaosNode } from './node.ts';

const EVERY_MS = 1_000;

export interface MemoryWatch extends Disposable {
  readonly samples: readonly MemorySample[];
}

export function watchMemory(nodes: readonly ChaosNode[]): MemoryWatch {
  const samples: MemorySample[] = [];
  const read = (): void => {
    for (const node of nodes.filter(({ isRunning }) => isRunning)) {
      const { child } = node.process;
      const bytes = residentBytes(node.process);
      if (bytes !== undefined) samples.push({ at: machineMs(), process: `${node.id} (${child.pid})`, bytes });
    }
  };
  const timer = setInterval(read, EVERY_MS);
  return { samples, [Symbol.dispose]: () => clearInterval(timer) };
}

/** undefined for a process that is ending, which has none any more. */
function residentBytes(process: ChaosNode['process']): number | undefined {
  try {
    const bytes = process.residentBytes();
    return Number.isFinite(bytes) ? bytes : undefined;
  } catch {
    return undefined;
  }
}
