/** The drawings of the floors in CONTRIBUTING.md and docs/architecture.md, from the table that the tests enforce. */
import { readFileSync } from 'node:fs';
import { type Floor, floors } from '../test/architecture/floors.ts';

/** What a folder is for whose own folders are floors. */
const ABOUT: Readonly<Record<string, string>> = {
  'src/server': 'connections, and what they ask for',
};

/** Node of a drawing -> the nodes that it imports from. */
type Arrows = ReadonlyMap<string, ReadonlySet<string>>;

/** A page whose drawing, between its two comments, is replaced by the present one. */
export function printFloorsInto(page: 'CONTRIBUTING.md' | 'docs/architecture.md'): string {
  const text = readFileSync(new URL(`../${page}`, import.meta.url), 'utf8');
  const drawing = page === 'CONTRIBUTING.md' ? floorsList() : [foldersDiagram(), serverDiagram()].join('\n\n').trim();
  const between = /(<!-- floors: .*?-->\n).*?(\n<!-- end of floors -->)/s;
  if (!between.test(text)) throw new Error(`${page} has no place for the floors`);
  return text.replace(between, (_all, start: string, end: string) => `${start}\n${drawing}\n${end}`);
}

/** Every floor in a line, the highest first: its height, what it is for, and the packages that only it may import. */
function floorsList(): string {
  const arrows = arrowsBetween(({ path }) => path);
  const rows = floors
    .map((floor, place) => ({ floor, place, height: heightOf(floor.path, arrows) }))
    .sort((a, b) => b.height - a.height || b.place - a.place);
  const width = (text: (floor: Floor) => string) => Math.max(...floors.map((floor) => text(floor).length));
  const [pathWidth, aboutWidth] = [width(({ path }) => path), width(({ about }) => about)];
  const lines = rows.map(({ floor: { path, about, packages }, height }) =>
    `${String(height).padStart(2)}  ${path.padEnd(pathWidth)}  ${about.padEnd(aboutWidth)}  ${packages.join(', ')}`.trimEnd(),
  );
  return ['```', ...lines, '```'].join('\n');
}

function foldersDiagram(): string {
  return diagram(arrowsBetween(({ path }) => folderOf(path)));
}

/** The folders and files of the server, once they are floors of their own. */
function serverDiagram(): string {
  const inside = floors.filter(({ path }) => path.startsWith('src/server/'));
  if (inside.length < 3) return '';
  return diagram(arrowsBetween(({ path }) => (inside.some((floor) => floor.path === path) ? path : undefined)));
}

/** `src/server` of `src/server/rooms`. */
function folderOf(path: string): string {
  return path
    .split('/')
    .slice(0, path.startsWith('src/') ? 2 : 1)
    .join('/');
}

function arrowsBetween(nodeOf: (floor: Floor) => string | undefined): Arrows {
  const arrows = new Map<string, Set<string>>();
  for (const floor of floors) {
    const from = nodeOf(floor);
    if (from === undefined) continue;
    const to = arrows.get(from) ?? new Set();
    for (const target of floor.ours.flatMap(floorsOf)) {
      const node = nodeOf(target);
      if (node !== undefined && node !== from) to.add(node);
    }
    arrows.set(from, to);
  }
  return arrows;
}

/** The floors that an allowance reaches: the one on which the path stands, and those inside of it. */
function floorsOf(allowance: string): Floor[] {
  const around = floors.filter(({ path }) => `${allowance}/`.startsWith(`${withoutExtension(path)}/`));
  const nearest = around.sort((a, b) => b.path.length - a.path.length).slice(0, 1);
  return [...nearest, ...floors.filter(({ path }) => path.startsWith(`${allowance}/`))];
}

/** 0 for a floor that imports none of ours, else one more than the highest below it. */
function heightOf(node: string, arrows: Arrows, above: readonly string[] = []): number {
  const below = [...(arrows.get(node) ?? [])].filter((next) => !above.includes(next));
  return Math.max(-1, ...below.map((next) => heightOf(next, arrows, [...above, node]))) + 1;
}

/** Without the arrows that a longer way says already. */
function diagram(arrows: Arrows): string {
  const nodes = [...arrows.keys()].sort((a, b) => heightOf(b, arrows) - heightOf(a, arrows));
  const names = nodes.map((node) => `  ${idOf(node)}["${labelOf(node)}"]`);
  const lines = nodes.flatMap((node) =>
    nodes.filter((next) => isDrawn(node, next, arrows)).map((next) => `  ${idOf(node)} --> ${idOf(next)}`),
  );
  return ['```mermaid', 'flowchart TB', ...names, ...lines, '```'].join('\n');
}

function isDrawn(from: string, to: string, arrows: Arrows): boolean {
  const next = [...(arrows.get(from) ?? [])];
  return next.includes(to) && !next.some((other) => other !== to && reaches(other, to, arrows));
}

function reaches(from: string, to: string, arrows: Arrows, seen: Set<string> = new Set()): boolean {
  if (seen.has(from)) return false;
  seen.add(from);
  return [...(arrows.get(from) ?? [])].some((next) => next === to || reaches(next, to, arrows, seen));
}

function labelOf(node: string): string {
  const about = floors.find(({ path }) => path === node)?.about ?? ABOUT[node];
  if (about === undefined) throw new Error(`nothing says what ${node} is for`);
  return `${node.replace(/^src\//, '').replace(/^server\/(?=.)/, '')}<br>${about}`;
}

function idOf(node: string): string {
  return withoutExtension(node).replace(/[^a-z]+/g, '_');
}

function withoutExtension(path: string): string {
  return path.replace(/\.ts$/, '');
}
