/** One node for tests of the bus: its connections to Redis go through a slow proxy of its own. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createShardedAdapter } from '@socket.io/redis-adapter';
import { Server, type Socket } from 'socket.io';
import { type Socket as ClientSocket, io as connectClient } from 'socket.io-client';
import { type Bus, createBus, redisChannel, socketRoomIn } from '../../src/engine/redis/bus.ts';
import type { RedisClient } from '../../src/redis/client.ts';
import { connectRedis, type RedisClients } from '../../src/redis/connect.ts';
import { StoreClock } from '../../src/redis/store-clock.ts';
import { systemClock } from '../../src/support/clock.ts';
import { startProxy, type TcpProxy } from '../support/proxy.ts';
import type { RedisServer } from '../support/redis.ts';

export const PREFIX = 'sb:';
const ROUND_TRIP_MS = 20;
export const LINGER_MS = 300;
export const DEADLINE_MS = 1_500;

export class Unavailable extends Error {}

/** A client of a node, and the node's end of it. */
export interface Guest {
  seat: Socket;
  /** The arguments of every event `note`, in the order of arrival. */
  notes: unknown[];
}

/** One node: its own connections through its own slow proxy, the bus, a real Socket.IO server on the sharded adapter. */
export interface TestNode extends AsyncDisposable {
  io: Server;
  bus: Bus;
  proxy: TcpProxy;
  clients: RedisClients;
  warnings: string[];
  guest(): Promise<Guest>;
  join(guest: Guest, room: string): Promise<void>;
}

interface NodeOptions {
  /** 0 for a sender next to Redis: its message overtakes a subscription that is still on its way. */
  delayMs?: number;
  pingMs?: number;
  silenceMs?: number;
  /** What is not about a deadline is lost to none. */
  deadlineMs?: number;
  nodeId?: string;
}

let nodes = 0;

export async function startNode(redis: RedisServer, options: NodeOptions = {}): Promise<TestNode> {
  const { delayMs = ROUND_TRIP_MS, deadlineMs = DEADLINE_MS, nodeId = `node-${nodes}`, ...timing } = options;
  nodes += 1;
  const proxy = await startProxy(redis.port, { delayMs });
  const clients = await connectRedis({ url: `redis://127.0.0.1:${proxy.port}`, ...timing });
  const warnings: string[] = [];
  const storeClock = await followTime(clients.state);
  const bus = createBus(clients.pub, clients.sub, {
    channelPrefix: PREFIX,
    nodeId,
    storeTime: () => storeClock.now(),
    unavailable: () => new Unavailable('store unavailable'),
    deadlineMs,
    lingerMs: LINGER_MS,
    lingers: (channel) => !channel.includes('}:'),
    warn: (message) => warnings.push(message),
  });
  const http = createServer();
  const adapter = createShardedAdapter(bus.pub, bus.sub, { channelPrefix: PREFIX, subscriptionMode: 'dynamic' });
  const io = new Server(http, { transports: ['websocket'], adapter });
  // Acknowledgements come to the inbox; an event is delivered to whoever is in the room.
  bus.onMessage(() => {});
  bus.onEvent((channel) => io.of('/').adapter.rooms.get(socketRoomIn(PREFIX, channel))?.size ?? 0);
  await bus.live(bus.inbox(nodeId));
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const { port } = http.address() as AddressInfo; // a TCP server has no other kind of address
  const sockets: ClientSocket[] = [];
  return {
    io,
    bus,
    proxy,
    clients,
    warnings,
    guest: () => welcome(io, port, sockets),
    join: async (guest, room) => {
      await guest.seat.join(room);
      await bus.live(redisChannel(PREFIX, room));
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.close();
      await io.close();
      await bus.close();
      await clients.close();
      await proxy.close();
    },
  };
}

/** The number of connections that an event for the room is written to. */
export async function reach(from: TestNode, room: string): Promise<number> {
  return (await from.bus.deliver(redisChannel(PREFIX, room), 'reach')) ?? 0;
}

async function followTime(client: RedisClient): Promise<StoreClock> {
  const storeClock = new StoreClock(systemClock);
  const askedAt = systemClock.monotonic();
  const [seconds, microseconds] = (await client.sendCommand(['TIME'])) as [string, string]; // as Redis documents it
  storeClock.learn(Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000), askedAt);
  return storeClock;
}

async function welcome(io: Server, port: number, sockets: ClientSocket[]): Promise<Guest> {
  const socket = connectClient(`http://127.0.0.1:${port}`, { transports: ['websocket'], forceNew: true });
  sockets.push(socket);
  const notes: unknown[] = [];
  socket.on('note', (note: unknown) => notes.push(note));
  const arrived = new Promise<Socket>((resolve) => io.once('connection', resolve));
  await new Promise<void>((resolve) => socket.once('connect', resolve));
  return { seat: await arrived, notes };
}
