import { posix } from 'node:path';
import { type Floor, floors, readsEnvironment } from './floors.ts';
import { type Import, type Scan, scan } from './imports.ts';

/** Path from the root of the repository -> text. */
export type Sources = ReadonlyMap<string, string>;

/** Every import that the table does not allow, each as one line that says where and why. */
export function violations(sources: Sources): string[] {
  const scans = new Map([...sources].map(([file, text]) => [file, scan(file, text)]));
  const found = [...scans].flatMap(([file, scanned]) => [
    ...scanned.imports.flatMap((one) => {
      const fault = importFault(file, one, scans);
      return fault === undefined ? [] : [`${file}:${one.line} imports ${one.specifier}: ${fault}`];
    }),
    ...environmentFaults(file, scanned),
  ]);
  return [...found, ...cycles(scans).map((cycle) => `${cycle.join(' -> ')}: a cycle`)];
}

/** Every entry of the table that no import needs: an allowance that nobody uses permits the next mistake. */
export function unusedAllowances(sources: Sources, table: readonly Floor[] = floors): string[] {
  const usedBy = new Map<Floor, Set<string | undefined>>();
  for (const [file, text] of sources) {
    const floor = floorOf(file, table);
    if (floor === undefined) continue;
    const used = usedBy.get(floor) ?? new Set();
    for (const one of scan(file, text).imports) used.add(allowanceOf(floor, file, one, table));
    usedBy.set(floor, used);
  }
  return table.flatMap((floor) => {
    const used = usedBy.get(floor);
    if (used === undefined) return [`${floor.path}: no file stands on this floor`];
    const unused = [...floor.ours, ...floor.packages].filter((allowance) => !used.has(allowance));
    return unused.map((allowance) => `${floor.path} may import ${allowance}, but no file there does`);
  });
}

/** The entry that permits an import: the longest that matches, so that a wider one beside it is seen to be useless. */
function allowanceOf(floor: Floor, file: string, one: Import, table: readonly Floor[]): string | undefined {
  const isOurs = one.specifier.startsWith('.');
  const target = isOurs ? posix.join(posix.dirname(file), one.specifier) : one.specifier;
  if (isOurs && floorOf(target, table) === floor) return undefined;
  return (isOurs ? floor.ours : floor.packages)
    .filter((path) => isWithin(target, path))
    .sort((a, b) => b.length - a.length)[0];
}

function importFault(file: string, one: Import, scans: ReadonlyMap<string, Scan>): string | undefined {
  const floor = floorOf(file);
  if (floor === undefined) return 'it stands on no floor; add its folder to the table';
  if (one.specifier.startsWith('node:')) return floor.node ? undefined : `${floor.path} knows nothing of Node`;
  if (!one.specifier.startsWith('.')) {
    return isPackageAllowed(floor, one.specifier) ? undefined : `this package does not belong to ${floor.path}`;
  }
  const target = posix.join(posix.dirname(file), one.specifier);
  if (!isAsset(target) && !scans.has(target)) return 'there is no such source file';
  if (!isFileAllowed(floor, target)) return `${floor.path} may import ${floor.ours.join(', ') || 'nothing of ours'}`;
  const typesOnly = scans.get(target)?.exportsValues === false;
  return typesOnly && one.takes === 'values' ? 'it holds types only, so `import type`' : undefined;
}

function environmentFaults(file: string, scanned: Scan): string[] {
  if (readsEnvironment.some((path) => isWithin(file, path)) || file.endsWith('.config.ts')) return [];
  return scanned.environment.map((line) => `${file}:${line} reads process.env: only ${readsEnvironment.join()} may`);
}

function floorOf(file: string, table: readonly Floor[] = floors): Floor | undefined {
  return table.filter(({ path }) => isWithin(file, path)).sort((a, b) => b.path.length - a.path.length)[0];
}

function isFileAllowed(floor: Floor, target: string): boolean {
  // A floor inside of another one is not part of it: the engines' common ground must not know an engine.
  if (floorOf(target) === floor) return true;
  return floor.ours.some((path) => isWithin(target, path));
}

function isPackageAllowed(floor: Floor, specifier: string): boolean {
  return floor.packages.some((name) => specifier === name || specifier.startsWith(`${name}/`));
}

function isWithin(file: string, path: string): boolean {
  return file === path || file === `${path}.ts` || file.startsWith(`${path}/`);
}

/** Style sheets and pictures of the page. */
function isAsset(target: string): boolean {
  return !target.endsWith('.ts');
}

function cycles(scans: ReadonlyMap<string, Scan>): string[][] {
  const found: string[][] = [];
  const done = new Set<string>();
  const walk = (file: string, trail: readonly string[]): void => {
    const start = trail.indexOf(file);
    if (start >= 0) found.push([...trail.slice(start), file]);
    if (start >= 0 || done.has(file)) return;
    for (const { specifier } of scans.get(file)?.imports ?? []) {
      if (specifier.startsWith('.')) walk(posix.join(posix.dirname(file), specifier), [...trail, file]);
    }
    done.add(file);
  };
  for (const file of scans.keys()) walk(file, []);
  return found;
}
