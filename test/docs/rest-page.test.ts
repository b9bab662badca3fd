/** Facts and examples of `docs/rest.md`, checked against the source and run with curl. */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { variableOf } from '../../src/cli/option-spellings.ts';
import { ERRORS, type ErrorCode } from '../../src/protocol/errors.ts';
import { statusOf } from '../../src/server/http/problem.ts';
import { OPTIONS } from '../../src/server/options/options.ts';
import { ADMIN } from '../server/http/api/api-client.ts';
import { type ExampleServer, startExampleServer } from '../server/http/api/example-server.ts';
import { snippetsOf } from './snippets.ts';

const PAGE = 'docs/rest.md';
const path = (of: string) => fileURLToPath(new URL(`../../${of}`, import.meta.url));
const page = readFileSync(path(PAGE), 'utf8');

let server: ExampleServer;
beforeAll(async () => {
  server = await startExampleServer();
});
afterAll(() => server[Symbol.asyncDispose]());

interface Answer {
  readonly status: number;
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

/** Runs an example, which says nothing of how it went but what the server says. */
async function run(example: string): Promise<Answer> {
  const told = String.raw`curl --silent --show-error --max-time 20 --write-out '\n%{http_code} %{method} %{url_effective}'`;
  const { stdout } = await promisify(execFile)('bash', ['-c', example.replace(/^curl/m, told)], {
    env: { ...process.env, TOKEN: ADMIN },
  });
  const [, body = '', status, method = '', url = ''] = /^(.*)\n(\d+) (\S+) (\S+)$/s.exec(stdout.trimEnd()) ?? [];
  return { status: Number(status), method, path: new URL(url).pathname, body };
}

test('every example runs, and every operation of the document has one', async () => {
  const examples = await snippetsOf(PAGE, server.url);
  const document = (await (await fetch(`${server.url}/docs/json`)).json()) as {
    paths: Record<string, Record<string, { responses: object }>>; // a test of its own validates it
  };
  const missing = new Set(
    Object.entries(document.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    ),
  );
  for (const [name, example] of examples) {
    if (!example.startsWith('curl ')) continue;
    await using fixture = await server.createFixture();
    const answer = await run(fixture.withRealIds(example));
    expect(answer.status, `${name}: ${answer.body}`).toBeGreaterThanOrEqual(200);
    expect(answer.status, `${name}: ${answer.body}`).toBeLessThan(300);
    const found = Object.keys(document.paths).find((path) => patternOf(path).test(answer.path)) ?? '';
    const responses = document.paths[found]?.[answer.method.toLowerCase()]?.responses ?? {};
    expect(Object.keys(responses), name).toContain(String(answer.status));
    missing.delete(`${answer.method} ${found}`);
  }
  expect([...missing]).toEqual([]);
});

const patternOf = (path: string) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);

test('the example with the same idempotency key gives the same room', async () => {
  const example = (await snippetsOf(PAGE, server.url)).get('create-room') ?? expect.unreachable();
  const again = example.replace('appointment-4711', 'appointment-4712');
  const [first, second] = [await run(again), await run(again)];
  expect([first.status, second.status]).toEqual([201, 200]);
  expect(second.body).toBe(first.body);
});

test('the room in the example has the fields of a room', async () => {
  const example = (await snippetsOf(PAGE, server.url)).get('create-room') ?? expect.unreachable();
  const [, shown = ''] = /^```json room\n(.*?)^```$/ms.exec(page) ?? [];
  const { body } = await run(example.replace('appointment-4711', 'appointment-4713'));
  const chance = { code: '', ref: '', createdAt: 0, expiresAt: 0 };
  expect({ ...JSON.parse(shown), ...chance }).toEqual({ ...JSON.parse(body), ...chance });
  expect(Object.keys(JSON.parse(shown))).toEqual(Object.keys(JSON.parse(body)));
});

test('the table has every error code of the API, with its status', () => {
  const rows = [...page.matchAll(/^\| (\d{3}) +\| (.+?) +\|/gm)].map(([, status, codes = '']) => ({
    status: Number(status),
    codes: [...codes.matchAll(/`([A-Z_]+)`/g)].map(([, code]) => code as ErrorCode), // looked up below
  }));
  for (const { status, codes } of rows) {
    for (const code of codes) {
      expect(Object.keys(ERRORS)).toContain(code);
      if (code !== 'BAD_REQUEST') expect(statusOf(code), code).toBe(status);
    }
  }
  const told = rows.flatMap(({ codes }) => codes);
  const ofHttp = (Object.keys(ERRORS) as ErrorCode[]).filter((code) => statusOf(code) !== 500); // its own keys
  // Nothing of this API contradicts itself, as a host who kicks itself does.
  expect(ofHttp.filter((code) => !told.includes(code))).toEqual(['CONFLICT']);
});

test('the problem in the example is what the server answers', async () => {
  const [, shown = ''] = /^```json\n(.*?)^```$/ms.exec(page) ?? [];
  expect((await server.api.request('POST', '/rooms', { maxUsers: 101 })).body).toEqual(JSON.parse(shown));
});

test('the options, variables and pages that the page names exist', () => {
  const variables = Object.keys(OPTIONS).map(variableOf);
  for (const [name] of page.matchAll(/SIGNALBOX_[A-Z_]+/g)) expect(variables).toContain(name);
  expect(OPTIONS.apiPerMinute.schema.parse(undefined)).toBe(600);
  expect(OPTIONS.roomEmptyMs.schema.parse(undefined)).toBe(5 * 60_000);
  for (const [, target = ''] of page.matchAll(/\]\((?!http)([^)#]+)/g))
    expect(existsSync(path(`docs/${target}`)), target).toBe(true);
});
