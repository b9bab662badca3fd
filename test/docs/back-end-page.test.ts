/** The program of `docs/back-end.md`, run unchanged, with a browser as its guest. */
import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test, vi } from 'vitest';
import { executableOf } from '../../scripts/services.ts';
import { launchBrowser } from '../support/browser.ts';
import { connectClient } from '../support/client.ts';
import { startPageServer } from '../support/page-server.ts';
import { type RunningChild, startChild, temporaryFolder } from '../support/process.ts';
import { startProxy } from '../support/proxy.ts';
import { startSignalbox } from '../support/signalbox.ts';
import { snippetsOf } from './snippets.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const PAGE = 'docs/back-end.md';
const page = readFileSync(join(root, PAGE), 'utf8');
const ADMIN = 'the-token-of-this-test';
const QUESTION = 'Is this on?';

test('the program opens a room, answers a page in it, closes it when the page has left, and prints the record', async () => {
  await using server = await startSignalbox({ adminToken: ADMIN });
  await using program = await startProgram(server.url);
  const code = await codeOf(program);
  await using browser = await launchBrowser();
  await using site = await startPageServer();
  site.put('/guest', (await snippetsOf(PAGE, server.url)).get('guest') ?? expect.unreachable());
  await using guest = await browser.person(`${site.origin}/guest#${code}`);
  await guest.page.getByText(`in ${code}`).waitFor();
  await guest.page.getByRole('textbox').fill(QUESTION);
  await guest.page.getByRole('button', { name: 'Ask' }).click();
  await guest.page.getByText(QUESTION.toUpperCase(), { exact: true }).waitFor();
  await guest.page.getByRole('button', { name: 'Leave' }).click();

  expect(await program.exited).toEqual({ code: 0, signal: null });
  expect(guest.complaints).toEqual([]);
  const printed = program.lines.join('\n');
  const promised = /^```text prints\n(.*?)^```$/ms.exec(page)?.[1] ?? expect.unreachable();
  expect(withoutChance(printed)).toEqual(withoutChance(promised));
  const record = recordIn(printed);
  expect(record.code).toBe(code);
  expect(record.hostId).toBe(record.sessions[0]?.userId);
  // As the page says: the question and its answer, within half a minute.
  const headers = { authorization: `Bearer ${ADMIN}` };
  const ask = async () => (await fetch(`${server.url}/v1/calls/${record.ref}`, { headers })).json();
  await vi.waitFor(async () => expect(await ask()).toMatchObject({ ref: record.ref, signals: 2 }), COUNTED);
});

test('the program is back on its seat after its connection was cut', async () => {
  await using server = await startSignalbox({ adminToken: ADMIN });
  await using proxy = await startProxy(server.port);
  await using program = await startProgram(`http://127.0.0.1:${proxy.port}`);
  const code = await codeOf(program);
  await using ann = await connectClient(server.url, { name: 'Ann' });
  const { room } = await ann.must('room:join', { code });
  await program.line(/^here: Ann$/);
  proxy.cut();
  await ann.next('member:away');
  proxy.heal();
  const { member } = await ann.next('member:back');
  expect(member.userId).toBe(room.hostId);
  await ann.must('signal', { to: member.userId, data: { question: QUESTION } });
  expect((await ann.next('signal')).data).toEqual({ answer: QUESTION.toUpperCase() });
  await ann.must('room:leave');
  expect(await program.exited).toEqual({ code: 0, signal: null });
  expect(ann.all('member:left')).toEqual([]);
});

test('the program ends with its room, and prints the reason from the record', async () => {
  await using server = await startSignalbox({ adminToken: ADMIN });
  await using program = await startProgram(server.url);
  const code = await codeOf(program);
  const headers = { authorization: `Bearer ${ADMIN}` };
  expect((await fetch(`${server.url}/v1/rooms/${code}`, { method: 'DELETE', headers })).status).toBe(204);
  await program.line(/^over: (CODE_EXPIRED|ROOM_NOT_FOUND)$/);
  expect(await program.exited).toEqual({ code: 0, signal: null });
  expect(recordIn(program.lines.join('\n'))).toMatchObject({ code, reason: 'closed', totalMembers: 1 });
});

test('the program reports a token that may not create rooms', async () => {
  await using server = await startSignalbox({ adminToken: 'another-token-of-this-test' });
  await using program = await startProgram(server.url);
  expect(await program.exited).toEqual({ code: 1, signal: null });
  expect(program.lines.join('\n')).toContain("'UNAUTHENTICATED'");
});

test('every link of the page leads to an existing file', () => {
  for (const [, path = ''] of page.matchAll(/\]\((?!http)([^)#]+)/g))
    expect(existsSync(join(root, 'docs', path))).toBe(true);
});

async function startProgram(url: string): Promise<RunningChild> {
  const folder = await temporaryFolder();
  const path = join(folder.path, 'back_end.py');
  await writeFile(path, (await snippetsOf(PAGE, url)).get('back-end') ?? expect.unreachable());
  const child = await startChild({ command: executableOf('python'), args: [path], env: { TOKEN: ADMIN } });
  void child.exited.then(() => folder[Symbol.asyncDispose]());
  return child;
}

const codeOf = async (program: RunningChild): Promise<string> =>
  /\d{6}$/.exec(await program.line(/^code: \d{6}$/))?.[0] ?? expect.unreachable();

const COUNTED = { timeout: 60_000, interval: 500 };

interface Printed {
  readonly ref: string;
  readonly code: string;
  readonly hostId: string;
  readonly sessions: readonly { readonly userId: string }[];
}

const recordIn = (printed: string): Printed => JSON.parse(/^record: (.*)$/ms.exec(printed)?.[1] ?? '');

/** What is printed, but for codes, refs, ids and instants; and for signals, which may or may not have been counted by then. */
const withoutChance = (printed: string): string =>
  printed
    .trim()
    .replaceAll(/(?<="ref": )"ROM\d+"/g, 'REF')
    .replaceAll(/(?<=code(": "|: ))\d{6}/g, 'CODE')
    .replaceAll(/(?<="(userId|hostId)": )"[\w-]+"/g, 'USER')
    .replaceAll(/(?<="(\w+At)": )\d+/g, 'INSTANT')
    .replaceAll(/(?<="signals": )\d+/g, 'SOME');
