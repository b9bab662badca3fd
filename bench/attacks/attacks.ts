/** The attacks, by name. Each runs in a process of its own (attacker.ts), so that the witnesses do not wait for it. */
import { connectPeers, must, type Peer, seat } from '../clients.ts';
import type { Side } from '../sides.ts';
import { openRaw, TEXT, upgrade, writeWhileOpen } from './raw.ts';

/** What an attacker is given: the server, and how long to go on once everything is set up. */
export interface Target {
  readonly side: Side;
  readonly forMs: number;
}

export type Attack = (target: Target) => Promise<void>;

/** One less than `eventsPerSecond`: what a client that keeps to the limit may send. */
const PER_SECOND = 19;
const HOSTILE = 10;

export const ATTACKS: Readonly<Record<string, Attack>> = {
  'nothing (the witnesses alone)': idle,
  '20 connections, 20 pipelined requests for a file each, closed at once': pipelinedFiles,
  '10 connections that send pongs before CONNECT': (target) => flood(target, []),
  '10 connections that send pongs after a protocol error': (target) => flood(target, ['40', '4zzz']),
  '10 connections that send text after a protocol error': (target) => flood(target, ['40', '4zzz'], TEXT.noop),
  '100 members of one room, room:get 19 times a second each': readRoom,
  '8 connections, 19 signals a second of 64 KiB of small values each': manyValues,
  '30 members of one room, 19 messages a second of 4 KB each': messages,
};

async function idle({ forMs }: Target): Promise<void> {
  await until(Date.now() + forMs);
}

async function pipelinedFiles({ side, forMs }: Target): Promise<void> {
  const page = await (await fetch(side.url)).text();
  const file = /\/assets\/[^"]+\.js/.exec(page)?.[0];
  if (file === undefined) throw new Error('the demo page names no script: npm run build');
  const requests = `GET ${file} HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(20);
  for (let count = 0; count < 20; count += 1) {
    const socket = await openRaw(side.url);
    socket.write(requests, () => socket.destroy());
  }
  await until(Date.now() + forMs);
}

/** Each connection opens a WebSocket, sends `first`, then one frame as fast as it is taken; a new one when it is cut. */
async function flood({ side, forMs }: Target, first: readonly string[], frame: Buffer = TEXT.pong): Promise<void> {
  const endsAt = Date.now() + forMs;
  const one = async () => {
    while (Date.now() < endsAt) {
      const socket = await upgrade(side.url, first).catch(() => undefined);
      if (socket === undefined) await until(Date.now() + 100);
      else await writeWhileOpen(socket, frame, endsAt);
    }
  };
  await Promise.all(Array.from({ length: HOSTILE }, one));
}

async function readRoom({ side, forMs }: Target): Promise<void> {
  const peers = await connectPeers(side, 100, 10);
  const [host, ...others] = peers;
  if (host === undefined) return;
  const profile = { name: 'n'.repeat(64), metadata: { text: 'm'.repeat(1_000) } };
  const { room } = await must(host, 'room:create', { maxUsers: 100, profile });
  for (const other of others) await must(other, 'room:join', { code: room.code, ref: room.ref, profile });
  await repeat(peers, '420["room:get",{}]', forMs);
}

async function manyValues({ side, forMs }: Target): Promise<void> {
  const peers = await connectPeers(side, 8);
  await seat(side, peers, 2);
  const data = `[${Array.from({ length: 21_000 }, () => '[]').join(',')}]`;
  await repeat(peers, `420["signal",{"to":"nobody","data":${data}}]`, forMs);
}

async function messages({ side, forMs }: Target): Promise<void> {
  const peers = await connectPeers(side, 30);
  await seat(side, peers, 30);
  await repeat(peers, `420["message",{"data":"${'x'.repeat(4_000)}"}]`, forMs);
}

/** Writes the packet on each connection, and reads nothing but the pings: the attacker must not be the slow part. */
async function repeat(peers: readonly Peer[], packet: string, forMs: number): Promise<void> {
  for (const { socket } of peers) {
    // The WebSocket below Socket.IO's client, which would parse every answer.
    const { ws } = socket.io.engine.transport as unknown as { ws: WebSocket };
    ws.onmessage = ({ data }) => data === '2' && ws.send('3');
    const timer = setInterval(() => ws.readyState === 1 && ws.send(packet), 1_000 / PER_SECOND);
    setTimeout(() => clearInterval(timer), forMs);
  }
  await until(Date.now() + forMs);
}

const until = (instant: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, Math.max(0, instant - Date.now()));
  });
