/** Hundreds of clients are cut at once: the node admits them at its rate, and a call beside them goes on. */
import { expect, test } from 'vitest';
import { TcpSwitch } from '../../client/tcp-switch.ts';
import { LightClients } from '../../support/light-client.ts';
import { startSignalExchange } from '../../support/signal-exchange.ts';
import { startSignalbox } from '../../support/signalbox.ts';

const CLIENTS = 500;
const RATE = 100;
const BURST = 100;
/** The store's instant of a session is read after its admission: a second less this part holds no more than one second may. */
const WINDOW_MS = 900;

test('five hundred clients cut at once come back at the rate of the node, and signals of a call stay in order', async () => {
  await using node = await startSignalbox({
    connectionsPerSecond: RATE,
    connectionsBurst: BURST,
    eventsPerSecond: 1_000,
    eventsBurst: 1_000,
  });
  await using link = await TcpSwitch.to(node.port);
  await using exchange = await startSignalExchange(node.url);
  let sessions = 0;
  let reached = () => {};
  const all = (round: number) =>
    new Promise<void>((resolve) => {
      reached = () => sessions >= round * CLIENTS && resolve();
      reached();
    });
  await using clients = new LightClients();
  const onSession = () => {
    sessions += 1;
    reached();
  };
  for (let count = 0; count < CLIENTS; count += 1) clients.connect(link.url, onSession);
  await all(1);
  const signalsBefore = exchange.exchanged;
  link.cut();
  await all(2);
  await exchange.continues();

  expect(exchange.exchanged).toBeGreaterThan(signalsBefore);
  // A session's number is the instant at which it began, by the clock of the server.
  const instants = clients.all.flatMap((client) => client.sessions).sort((one, other) => one - other);
  const within = instants.map((from, index) =>
    instants.slice(index, index + BURST + RATE + 1).filter((at) => at < from + WINDOW_MS),
  );
  const most = Math.max(...within.map(({ length }) => length));
  const refusals = clients.all.reduce((sum, client) => sum + client.refusals, 0);
  process.stdout.write(`at most ${most} sessions in ${WINDOW_MS} ms; ${refusals} refusals\n`);
  expect(most).toBeLessThanOrEqual(BURST + RATE);
  expect(refusals).toBeGreaterThan(0);
  for (const client of clients.all) expect(client.sessions).toHaveLength(2);
});
