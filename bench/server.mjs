// One server in a process of its own, so that what it costs is not mixed up with what its clients cost. Plain
// JavaScript: it runs what is shipped, as Node runs it, without a compiler's additions.
import { createServer as createHttpServer } from 'node:http';
import { Server } from 'socket.io';

const SIDES = { ours: startOurs, bare: startBare };
// Signalbox's own defaults, given to both.
const PING = { pingInterval: 10_000, pingTimeout: 5_000 };

async function startOurs(options) {
  const { createServer } = await import('../dist/index.js');
  const { port } = await createServer({
    host: '127.0.0.1',
    port: 0,
    demo: false,
    secret: 'the secret of a benchmark',
    // One client of a benchmark asks as much as a thousand people do.
    connectionsBurst: 100_000,
    eventsPerSecond: 100_000,
    eventsBurst: 100_000,
    ...options,
  });
  return port;
}

/** What people write in ten minutes: no rooms, no checks, no state. */
function startBare() {
  const http = createHttpServer();
  const io = new Server(http, { transports: ['websocket'], serveClient: false, perMessageDeflate: false, ...PING });
  io.on('connection', (socket) => {
    socket.on('signal', ({ to, data }, acknowledge) => {
      io.to(to).emit('signal', { from: socket.id, data });
      acknowledge?.({ ok: true });
    });
  });
  return new Promise((resolve) => http.listen(0, '127.0.0.1', () => resolve(http.address().port)));
}

const settled = () => new Promise((resolve) => setTimeout(resolve, 50));

async function memory() {
  for (let round = 0; round < 4; round += 1) {
    await settled();
    globalThis.gc?.();
  }
  const { rss, heapUsed, external } = process.memoryUsage();
  return { rss, heap: heapUsed + external };
}

function cpu() {
  const { user, system } = process.cpuUsage();
  return { microseconds: process.env.SPLIT ? user : user + system };
}

const QUESTIONS = { cpu, memory };

process.on('message', async (question) => process.send(await QUESTIONS[question]()));
// Whoever started it is gone.
process.on('disconnect', () => process.exit());
const [side, options] = process.argv.slice(2);
process.send({ port: await SIDES[side](JSON.parse(options)) });
