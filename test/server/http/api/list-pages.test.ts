/** Paging: shards with more rooms than fit on a page, and a filter that almost no room passes. */
import { expect } from 'vitest';
import type { RoomRef } from '../../../../src/protocol/ids.ts';
import { codeAt } from '../../../../src/room/pool.ts';
import { poolOf, readOptions } from '../../../../src/server/options/options.ts';
import type { Nodes } from '../../../support/nodes.ts';
import { runScenarios, type Scenario } from '../../scenarios/run-scenarios.ts';
import { ADMIN, createApiClient } from './api-client.ts';

const ROOMS = 2_500;
/** Two shards: each fills thirteen pages, and the shards between them are empty. */
const SHARDS = [7, 93];
const pool = poolOf(readOptions({}));

async function fill({ servers }: Nodes): Promise<void> {
  const { engine } = servers[0] ?? expect.unreachable();
  const settings = { maxUsers: 8, access: 'open' } as const;
  for (let n = 0; n < ROOMS; n += 1) {
    const shard = SHARDS[n % 2] ?? 0;
    const made = await engine.apply({
      kind: 'create',
      shard,
      candidates: [codeAt(pool, shard, n)],
      searchFrom: 0,
      ref: `ROM2026${String(n).padStart(8, '0')}` as RoomRef, // matches the pattern of a ref
      settings: { ...settings, type: n === ROOMS - 1 ? 'needle' : 'hay' },
    });
    expect(made.ok).toBe(true);
  }
}

interface Page {
  readonly rooms: readonly { readonly ref: string }[];
  readonly cursor: string | null;
}

async function pagesOf(nodes: Nodes, query: string): Promise<Page[]> {
  const pages: Page[] = [];
  for (let cursor = ''; ; ) {
    const path = `/rooms?${query}${cursor === '' ? '' : `&cursor=${cursor}`}`;
    const page = await createApiClient(nodes.url(pages.length)).expectStatus<Page>(200, 'GET', path);
    pages.push(page);
    if (page.cursor === null) return pages;
    cursor = page.cursor;
  }
}

const longLists: Readonly<Record<string, Scenario>> = {
  async 'every room is listed once, and a page ends after a limited number of rooms has been read'(nodes) {
    await fill(nodes);
    const pages = await pagesOf(nodes, 'limit=100');
    const refs = pages.flatMap(({ rooms }) => rooms.map(({ ref }) => ref));
    expect(refs).toHaveLength(ROOMS);
    expect(new Set(refs).size).toBe(ROOMS);

    const searched = await pagesOf(nodes, 'type=needle');
    expect(searched.length).toBeGreaterThan(1);
    expect(searched[0]?.rooms).toEqual([]);
    expect(searched.flatMap(({ rooms }) => rooms)).toMatchObject([{ type: 'needle' }]);
  },
};

runScenarios('long lists of rooms', { scenarios: longLists, options: { adminToken: ADMIN, apiPerMinute: 100_000 } });
