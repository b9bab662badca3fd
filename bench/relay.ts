/**
 * What a relayed signal costs the server in processor time, on one node, against the same relay on bare Socket.IO.
 * The two sides take turns, many times in one run: what else the machine is doing disturbs both alike.
 */
import { connectPeers, disconnect, type Peer, seat } from './clients.ts';
import { type Round, type Row, toRow } from './figures.ts';
import { type SideName, startSide } from './sides.ts';

const PAIRS = 32;
/** Fresh processes for each: where a process happens to lie in memory makes a difference of a few per cent. */
const STARTS = 3;
const ROUNDS = 6;
const MESSAGES = 1_280;
/** Messages before the first round, for the compiler. */
const WARM_UP = 6_400;

/** As long as a small offer of a browser. */
const OFFER = { description: { type: 'offer', sdp: `v=0\r\n${'a=rtpmap:111 opus/48000/2\r\n'.repeat(54)}` } };
const CANDIDATE = {
  candidate: {
    candidate: 'candidate:842163049 1 udp 1677729535 192.0.2.17 46154 typ srflx',
    sdpMid: '0',
    sdpMLineIndex: 0,
    usernameFragment: 'EsAw',
  },
};
/** One call: an offer or an answer, and the candidates that follow it. */
const CALL = [OFFER, ...Array.from({ length: 9 }, () => CANDIDATE)];

type Exchange = (pair: Pair, messages: readonly object[]) => Promise<void>;
type Pair = readonly [Peer, Peer];

interface Case {
  readonly what: string;
  readonly data: readonly object[];
  readonly exchange: Exchange;
}

const CASES: readonly Case[] = [
  { what: 'offers of 1.5 KB, acknowledged', data: [OFFER], exchange: askedAndAnswered },
  { what: 'candidates of 150 bytes, acknowledged', data: [CANDIDATE], exchange: askedAndAnswered },
  { what: 'one offer, nine candidates, acknowledged', data: CALL, exchange: askedAndAnswered },
  { what: 'one offer, nine candidates, no acknowledgement', data: CALL, exchange: backAndForth },
];

/** Each waits for the acknowledgement of its signal before it sends the next. */
async function askedAndAnswered([left, right]: Pair, messages: readonly object[]): Promise<void> {
  const send = async (from: Peer, to: Peer) => {
    const received = heard(to, messages.length);
    for (const data of messages) {
      const reply = (await from.socket.emitWithAck('signal', { to: to.name, data })) as { ok: boolean };
      if (!reply.ok) throw new Error(`a signal was refused: ${JSON.stringify(reply)}`);
    }
    await received;
  };
  await Promise.all([send(left, right), send(right, left)]);
}

/** Each sends the next signal when it has received one, as offers and answers do. */
async function backAndForth([left, right]: Pair, messages: readonly object[]): Promise<void> {
  const play = async (from: Peer, to: Peer) => {
    let next = 0;
    const send = () => {
      const data = messages[next];
      next += 1;
      if (data !== undefined) from.socket.emit('signal', { to: to.name, data });
    };
    send();
    await heard(from, messages.length, send);
  };
  await Promise.all([play(left, right), play(right, left)]);
}

function heard({ socket }: Peer, count: number, onEach: () => void = () => {}): Promise<void> {
  return new Promise((resolve) => {
    let left = count;
    const listen = () => {
      onEach();
      left -= 1;
      if (left > 0) return;
      socket.off('signal', listen);
      resolve();
    };
    socket.on('signal', listen);
  });
}

type Turn = (one: Case, messages: number) => Promise<number>;

/** Starts a side with its clients; `work` gets a function that plays one turn and tells its cost per message. */
async function withSide<Result>(name: SideName, work: (turn: Turn) => Promise<Result>): Promise<Result> {
  await using side = await startSide(name);
  const peers = await connectPeers(side, PAIRS * 2);
  try {
    await seat(side, peers, 2);
    const pairs = Array.from({ length: PAIRS }, (_, at) => peers.slice(at * 2, at * 2 + 2) as unknown as Pair); // 2 each
    return await work(async ({ data, exchange }, messages) => {
      const each = Array.from({ length: messages / PAIRS / 2 }, (_, at) => data[at % data.length] ?? {});
      const before = await side.cpu();
      await Promise.all(pairs.map((pair) => exchange(pair, each)));
      return ((await side.cpu()) - before) / messages;
    });
  } finally {
    disconnect(peers);
  }
}

/** Each side begins every other round: whoever comes first finds the other's leavings in the caches. */
async function playRound(one: Case, turns: Readonly<Record<SideName, Turn>>, number: number): Promise<Round> {
  const oursFirst = number % 2 === 0;
  const early = oursFirst ? await turns.ours(one, MESSAGES) : undefined;
  const bare = await turns.bare(one, MESSAGES);
  return { ours: early ?? (await turns.ours(one, MESSAGES)), bare };
}

export async function benchRelay(): Promise<Row[]> {
  const rounds = new Map(CASES.map((one): [Case, Round[]] => [one, []]));
  for (let start = 0; start < STARTS; start += 1) {
    await withSide('ours', (ours) =>
      withSide('bare', async (bare) => {
        const turns = { ours, bare };
        for (const one of CASES) {
          for (const turn of [ours, bare]) await turn(one, WARM_UP);
          for (let number = 0; number < ROUNDS; number += 1) rounds.get(one)?.push(await playRound(one, turns, number));
        }
      }),
    );
  }
  return CASES.map((one) => toRow(`relay: ${one.what}`, 'µs CPU', rounds.get(one) ?? [], 1));
}
