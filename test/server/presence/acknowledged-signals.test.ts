/** A signal that was acknowledged is received: while its receiver resumes, and while nodes end one after the other. */
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import type { SignalboxServer } from '../../../src/server/signalbox.ts';
import { connectClient, TestClient } from '../../support/client.ts';
import { startNodes } from '../../support/nodes.ts';
import { joinedPair, tokenOf } from '../scenarios/members.ts';
import { startSlowLinkNodes } from '../slow-link-nodes.ts';

const numbersFrom = (client: TestClient, userId: string): number[] =>
  client
    .all('signal')
    .filter(({ from }) => from === userId)
    .map(({ data }) => Number(data));

test('what is acknowledged while a member resumes comes in order behind its welcome', async () => {
  // Long round trips: a resume takes several of them.
  await using nodes = await startSlowLinkNodes(2, 60);
  await using pair = await joinedPair(nodes);
  const { ann, ben, room } = pair;
  await using cat = await connectClient(nodes.url(1));
  await cat.must('room:join', { code: room.code });
  ben.cut();
  await ann.next('member:away', ({ userId }) => userId === ben.userId);
  const back = new TestClient(nodes.url(1), { resume: tokenOf(ben) });
  let isBack = false;
  const sendAll = async (sender: TestClient): Promise<number[]> => {
    const acknowledged: number[] = [];
    for (let number = 0; acknowledged.length < 10 || !isBack; number += 1) {
      const reply = await sender.ask('signal', { to: ben.userId, data: number });
      if (reply.ok) acknowledged.push(number);
      else expect(reply.error.code).toBe('PEER_AWAY');
      await turn();
    }
    return acknowledged;
  };
  // From the other node, and from the node at which it resumes.
  const sent = [sendAll(ann), sendAll(cat)];
  await back.next('welcome');
  isBack = true;
  const [byAnn, byCat] = await Promise.all(sent);
  await vi.waitFor(() => expect(numbersFrom(back, ann.userId)).toEqual(byAnn));
  await vi.waitFor(() => expect(numbersFrom(back, cat.userId)).toEqual(byCat));
  expect(back.heard[0]?.name).toBe('welcome');
  back.socket.disconnect();
});

/** A member that goes to the next node whenever its node asks it to or ends. */
class Mover {
  client: TestClient;
  readonly received = new Map<string, number[]>();
  readonly acknowledged = new Map<string, number[]>();
  readonly userId: string;
  readonly #urls: () => string[];
  #token: string;
  #moves = 0;

  constructor(client: TestClient, urls: () => string[]) {
    this.client = client;
    this.userId = client.userId;
    this.#token = tokenOf(client);
    this.#urls = urls;
    this.#listen();
  }

  async send(to: string, number: number): Promise<void> {
    const { socket } = this.client;
    if (!socket.connected) return;
    // Without an answer nothing is promised.
    const reply = await socket
      .timeout(2000)
      .emitWithAck('signal', { to, data: number })
      .catch(() => undefined);
    if (reply?.ok) this.acknowledged.set(to, [...(this.acknowledged.get(to) ?? []), number]);
  }

  #listen(): void {
    const { socket } = this.client;
    socket.on('signal', ({ from, data }: { from: string; data: number }) => {
      this.received.set(from, [...(this.received.get(from) ?? []), data]);
    });
    socket.once('disconnect', () => void this.#move());
  }

  async #move(): Promise<void> {
    const resume = this.#token;
    for (;;) {
      const urls = this.#urls();
      this.#moves += 1;
      const next = new TestClient(urls[this.#moves % urls.length] ?? '', { resume });
      const before = this.client;
      this.client = next;
      this.#listen();
      const isIn = await Promise.race([
        next.next('welcome').then(() => true),
        new Promise<boolean>((resolve) => next.socket.once('connect_error', () => resolve(false))),
      ]);
      if (isIn) {
        this.#token = tokenOf(next);
        return;
      }
      next.socket.removeAllListeners('disconnect');
      this.client = before;
      await turn();
    }
  }
}

test('no acknowledged signal is lost, doubled or out of order while three nodes end one after the other', async () => {
  await using nodes = await startNodes({ kind: 'redis', count: 4 }, { drainMs: 10_000, secret: 'of these tests only' });
  const running = new Set<SignalboxServer>(nodes.servers);
  const urls = () => [...running].map(({ port }) => `http://127.0.0.1:${port}`);
  const movers: [Mover, Mover][] = [];
  for (let pair = 0; pair < 8; pair += 1) {
    const [first, second] = [await connectClient(nodes.url(pair)), await connectClient(nodes.url(pair + (pair % 3)))];
    const { room } = await first.must('room:create');
    await second.must('room:join', { code: room.code });
    movers.push([new Mover(first, urls), new Mover(second, urls)]);
  }
  let isOver = false;
  const chat = async (from: Mover, to: Mover) => {
    for (let number = 0; !isOver; number += 1) {
      await from.send(to.userId, number);
      await turn();
    }
  };
  const chats = movers.flatMap(([first, second]) => [chat(first, second), chat(second, first)]);
  const counts = () => movers.flat().map(({ acknowledged }) => [...acknowledged.values()].flat().length);
  const allGoOn = async () => {
    const before = counts();
    await vi.waitFor(() => expect(counts().every((count, at) => count > (before[at] ?? 0) + 20)).toBe(true));
  };
  for (const server of nodes.servers.slice(0, 3)) {
    await allGoOn();
    running.delete(server);
    await server.close();
  }
  await allGoOn();
  isOver = true;
  await Promise.all(chats);
  for (const [first, second] of movers) {
    for (const [from, to] of [
      [first, second],
      [second, first],
    ] as const) {
      const acknowledged = from.acknowledged.get(to.userId) ?? [];
      expect(acknowledged.length).toBeGreaterThan(0);
      await vi.waitFor(() => expect(to.received.get(from.userId)).toEqual(expect.arrayContaining(acknowledged)));
      const received = to.received.get(from.userId) ?? [];
      expect(received).toEqual([...new Set(received)].sort((a, b) => a - b));
    }
  }
  for (const { client } of movers.flat()) {
    client.socket.removeAllListeners('disconnect');
    client.socket.disconnect();
  }
});
