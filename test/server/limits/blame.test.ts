/** Whose fault the end of a connection is: what the server ends is not held against the address of its client. */
import { expect, test } from 'vitest';
import { connectClient } from '../../support/client.ts';
import { logLines } from '../../support/log.ts';
import { startNodes } from '../../support/nodes.ts';
import { RawSocket } from '../../support/raw-socket.ts';

/** More floods than an address has free. */
const GUESTS = 40;
const CANDIDATES = 60;

test('frames that are under way when the server closes are no flood', async () => {
  const { log, lines } = logLines();
  await using nodes = await startNodes({ kind: 'memory', count: 1 }, {}, { log });
  const port = nodes.servers[0]?.port ?? 0;
  await Promise.all(
    Array.from({ length: GUESTS }, async () => {
      await using first = await RawSocket.join(port);
      first.answersClose = false;
      const resume = /"resume":"([^"]+)"/.exec(first.texts.join())?.[1];
      await using _second = await RawSocket.join(port, {}, { v: 1, resume });
      await first.next(/session:replaced/);
      for (let sent = 0; sent < CANDIDATES; sent += 1) first.send('42["signal",{}]');
      await first.end();
    }),
  );
  await using _later = await connectClient(nodes.url(0));
  expect(lines().filter(({ msg }) => String(msg).startsWith('handshakes are held back'))).toEqual([]);
});
