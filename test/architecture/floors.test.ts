import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import type { Floor } from './floors.ts';
import { serverFloors } from './server-floors.ts';
import { type Sources, unusedAllowances, violations } from './violations.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

const sources = readSources(['src', 'client-demo']);

test('no file imports from above, aside or in a circle', () => {
  expect(sources.size).toBeGreaterThan(0);
  expect(violations(sources)).toEqual([]);
});

test('every floor of the server may import floors below it only', () => {
  const order = serverFloors.map(({ path }) => path);
  const upward = serverFloors.flatMap(({ path, ours }, index) =>
    ours.filter((name) => order.includes(name) && order.indexOf(name) < index).map((name) => `${path} -> ${name}`),
  );
  expect(upward).toEqual([]);
});

test('every allowance of the table is used', () => {
  expect(unusedAllowances(sources)).toEqual([]);
});

const tidy: Sources = new Map([
  ['src/protocol/ids.ts', `import { z } from 'zod';\nexport const id = z.string();`],
  ['src/protocol/more.ts', `import { id } from './ids.ts';\nexport const more = id;`],
  ['src/protocol/types.ts', `export interface T { a: 1 }`],
  ['src/room/room.ts', `import type { T } from '../protocol/types.ts';\nexport const room = {} as T;`],
  [
    'src/engine/engine.ts',
    `import { room } from '../room/room.ts';\nexport type E = typeof room;\nexport const e = 1;`,
  ],
  ['src/engine/memory.ts', `import 'node:events';\nimport { e } from './engine.ts';\nexport const memory = e;`],
  ['src/engine/redis/index.ts', `import 'redis';\nimport { e } from '../engine.ts';\nexport const redis = e;`],
  ['src/database/sqlite.ts', `import 'libsql';`],
  ['src/reference/sql-ledger.ts', `export const ledger = 1;`],
  [
    'src/server/sockets/gateway.ts',
    `import 'socket.io';\nimport { e } from '../../engine/engine.ts';\nexport const s = e;`,
  ],
  ['src/cli/main.ts', `import '../engine/redis/index.ts';\nimport '../server/sockets/gateway.ts';\nprocess.env['A'];`],
  ['src/create-server.ts', `export { memory } from './engine/memory.ts';`],
  ['src/index.ts', `export { memory } from './create-server.ts';\nexport { s } from './server/sockets/gateway.ts';`],
]);

// A checker that cannot fail proves nothing: every rule is broken here once.
describe('the checker reports', () => {
  const planted: readonly (readonly [name: string, file: string, text: string, report: RegExp])[] = [
    ['a package on the wrong floor', 'src/room/bad.ts', `import { z } from 'zod';`, /zod: this package/],
    ['a subpath of one', 'src/room/bad.ts', `import 'zod/v4';`, /zod\/v4: this package/],
    ['socket.io outside of the server', 'src/engine/bad.ts', `import 'socket.io';`, /socket.io: this package/],
    ['the browser package in the server', 'src/server/rooms/bad.ts', `import 'socket.io-client';`, /this package/],
    ['Redis outside of its engine', 'src/engine/bad.ts', `import 'redis';`, /redis: this package/],
    ['the adapter outside of it', 'src/server/rooms/bad.ts', `import '@socket.io/redis-adapter';`, /this package/],
    ['Node in the protocol', 'src/protocol/bad.ts', `import 'node:crypto';`, /knows nothing of Node/],
    [
      'the cellar looking up',
      'src/support/bad.ts',
      `import '../protocol/ids.ts';`,
      /src\/support may import src\/support\/chance/,
    ],
    ['a room that asks an engine', 'src/room/bad.ts', `import '../engine/engine.ts';`, /may import src\/protocol/],
    [
      'a server that chooses',
      'src/server/rooms/bad.ts',
      `import '../../engine/memory.ts';`,
      /src\/server\/rooms may import/,
    ],
    ['common ground that chooses', 'src/engine/bad.ts', `import './redis/index.ts';`, /src\/engine may import/],
    [
      'one engine inside of another',
      'src/engine/redis/bad.ts',
      `import '../memory.ts';`,
      /src\/engine\/redis may import/,
    ],
    [
      'a server that knows a store of references',
      'src/server/rooms/bad.ts',
      `import '../../reference/sql-ledger.ts';`,
      /may import/,
    ],
    [
      'a server inside of the client',
      'src/client/bad.ts',
      `import '../server/sockets/gateway.ts';`,
      /src\/client may import/,
    ],
    [
      'a room of the server looking up',
      'src/server/rooms/bad.ts',
      `import '../sockets/gateway.ts';`,
      /rooms may import/,
    ],
    ['a folder of the server that is no floor', 'src/server/attic/bad.ts', `import 'zod';`, /stands on no floor/],
    ['a type import', 'src/room/bad.ts', `import type { E } from '../engine/engine.ts';`, /may import/],
    ['an inline type import', 'src/room/bad.ts', `export type T = import('../engine/engine.ts').E;`, /may import/],
    ['a re-export', 'src/room/bad.ts', `export * from '../engine/engine.ts';`, /may import/],
    ['a dynamic import', 'src/room/bad.ts', `await import('../engine/engine.ts');`, /may import/],
    ['a value import of mere types', 'src/room/bad.ts', `import { T } from '../protocol/types.ts';`, /import type/],
    ['a file on no floor', 'src/attic/bad.ts', `import 'zod';`, /stands on no floor/],
    ['a file that is not there', 'src/room/bad.ts', `import './nowhere.ts';`, /no such source file/],
    ['the environment', 'src/server/rooms/bad.ts', `export const a = process.env['A'];`, /reads process.env/],
    ['the environment by destructuring', 'src/server/rooms/bad.ts', `const { env } = process;`, /reads process.env/],
    ['the environment by key', 'src/server/rooms/bad.ts', `process['env'];`, /reads process.env/],
    [
      'the environment by import',
      'src/server/http/bad.ts',
      `import { env as e } from 'node:process';`,
      /reads process.env/,
    ],
    [
      'a circle',
      'src/protocol/ids.ts',
      `import './more.ts';\nexport const id = 1;`,
      /ids.ts -> src\/protocol\/more.ts -> .*ids.ts: a cycle/,
    ],
    ['a file that imports itself', 'src/room/bad.ts', `import './bad.ts';`, /a cycle/],
  ];

  test.each(planted)('%s', (_name, file, text, report) => {
    const found = violations(new Map([...tidy, [file, text]]));
    expect(found).toEqual([expect.stringMatching(report)]);
    expect(found[0]).toMatch(new RegExp(`^${file}\\b`));
  });

  test('nothing in sources that keep to the table', () => {
    expect(violations(tidy)).toEqual([]);
  });
});

describe('the checker of allowances reports', () => {
  const protocol: Floor = { path: 'src/protocol', about: '', ours: [], packages: ['zod'], node: false };
  const room: Floor = { path: 'src/room', about: '', ours: ['src/protocol'], packages: [], node: false };
  const files = new Map([...tidy].filter(([file]) => /^src\/(protocol|room)\//.test(file)));
  const planted: readonly (readonly [name: string, floor: Partial<Floor>, report: string])[] = [
    ['a package that no file imports', { packages: ['left-pad'] }, 'left-pad'],
    ['a folder that no file imports', { ours: ['src/protocol', 'src/client'] }, 'src/client'],
    ['a file that no file imports', { ours: ['src/protocol', 'src/protocol/ids'] }, 'src/protocol/ids'],
    [
      'a folder beside the only file that is imported',
      { ours: ['src/protocol', 'src/protocol/types'] },
      'src/protocol',
    ],
    ['its own folder', { ours: ['src/protocol', 'src/room'] }, 'src/room'],
  ];

  test.each(planted)('%s', (_name, change, allowance) => {
    expect(unusedAllowances(files, [protocol, { ...room, ...change }])).toEqual([
      `src/room may import ${allowance}, but no file there does`,
    ]);
  });

  test('a floor without files', () => {
    const attic = { ...room, path: 'src/attic' };
    expect(unusedAllowances(files, [protocol, room, attic])).toEqual(['src/attic: no file stands on this floor']);
  });

  test('nothing when every allowance is used', () => {
    expect(unusedAllowances(files, [protocol, room])).toEqual([]);
  });
});

function readSources(folders: readonly string[]): Sources {
  const files = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => `${folder}/${name}`),
  );
  return new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]));
}
