/**
 * The order of the test files: the quick ones first; then the longest, with at most one browser at a time as far as that
 * can be planned, since two of them are in each other's way on two cores.
 */
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { startsBrowser } from './selection.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** About how many seconds the longest take on a quiet machine. It decides about nothing but the order. */
export const SECONDS: Readonly<Record<string, number>> = {
  'test/client/mesh.test.ts': 80,
  'test/faults/chaos.test.ts': 60,
  'test/browser/sentences.test.ts': 50,
  'test/engine/mutations.test.ts': 45,
  'test/browser/views.test.ts': 45,
  'test/engine/bus.test.ts': 40,
  'test/browser/devices.test.ts': 40,
  'test/engine/races.test.ts': 35,
  'test/browser/four.test.ts': 35,
  'test/reference/faults.test.ts': 33,
  'test/browser/frozen.test.ts': 31,
  'test/webhooks/nodes.test.ts': 30,
  'test/browser/call.test.ts': 30,
  'test/browser/chat.test.ts': 30,
  'test/browser/invitation.test.ts': 30,
  'test/browser/turn.test.ts': 30,
  'test/cli/serve.test.ts': 30,
  'test/records/records-contract.test.ts': 30,
  'test/browser/soak.test.ts': 25,
};
const ORDINARY = { browser: 15, other: 3 } as const;

export default class Sequencer extends BaseSequencer {
  override async sort(specs: TestSpecification[]): Promise<TestSpecification[]> {
    const files = specs.map((spec) => {
      const path = relative(root, spec.moduleId);
      const isBrowser = startsBrowser(path);
      const seconds = SECONDS[path] ?? (isBrowser ? ORDINARY.browser : ORDINARY.other);
      return { spec, isBrowser, seconds, project: spec.project.name };
    });
    const longest = files.toSorted((a, b) => b.seconds - a.seconds);
    const quick = longest.filter(({ project }) => project === 'quick');
    const browsers = longest.filter(({ isBrowser }) => isBrowser);
    // Grouped by project, so that workers reuse their module caches.
    const others = ['services', 'apart'].flatMap((name) =>
      longest.filter(({ isBrowser, project }) => !isBrowser && project === name),
    );
    return [...quick, ...sideBySide(browsers, others)].map(({ spec }) => spec);
  }
}

/** Greedy schedule of two workers, one for each list: files in the order of their start times. */
function sideBySide<File extends { readonly seconds: number }>(left: readonly File[], right: readonly File[]): File[] {
  const start = (files: readonly File[]) => {
    let time = 0;
    return files.map((file) => {
      const at = time;
      time += file.seconds;
      return { file, at };
    });
  };
  return [...start(left), ...start(right)].sort((a, b) => a.at - b.at).map(({ file }) => file);
}
