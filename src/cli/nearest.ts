/** Suggests the name that was meant. */

/** As commander for misspelt flags: at most three edits, and more than 40 % alike. */
const MAX_EDITS = 3;
const MIN_ALIKE = 0.4;

/** The candidate that is most alike: begun and not ended, or a few edits away. Undefined when none is. */
export function nearestTo(word: string, candidates: readonly string[]): string | undefined {
  const upper = word.toUpperCase();
  const ranked = candidates
    .map((candidate) => ({ candidate, edits: editsBetween(upper, candidate) }))
    .filter(
      ({ candidate, edits }) =>
        candidate.startsWith(`${upper}_`) ||
        (edits <= MAX_EDITS && 1 - edits / Math.max(upper.length, candidate.length) > MIN_ALIKE),
    )
    .sort((a, b) => a.edits - b.edits);
  return ranked[0]?.candidate;
}

/** Edit distance (optimal string alignment): insertions, deletions, replacements, and swaps of neighbours. */
function editsBetween(a: string, b: string): number {
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const isSame = a[row - 1] === b[column - 1];
      const isSwap = row > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      current[column] = Math.min(
        at(above, column) + 1,
        at(current, column - 1) + 1,
        at(above, column - 1) + (isSame ? 0 : 1),
        isSwap ? at(before, column - 2) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    before = above;
    above = current;
  }
  return at(above, b.length);
}

const at = (row: readonly number[], column: number): number => row[column] ?? Number.POSITIVE_INFINITY;
