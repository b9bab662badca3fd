/** A handshake whose `auth` is too much is refused with a reason: a bare close would have its client try again for ever. */
import { expect, test } from 'vitest';
import { startNodes } from '../../support/nodes.ts';
import { RawSocket } from '../../support/raw-socket.ts';

const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

test.each([
  ['a token of 17,000 characters', JSON.stringify({ v: 1, token: 'x'.repeat(17_000) })],
  ['a token of 20,000 characters of three bytes each', JSON.stringify({ v: 1, token: '€'.repeat(20_000) })],
  ['17,000 characters of white space', `{"v":99${' '.repeat(17_000)},"token":1}`],
  ['lists in lists', `{"v":1,"token":${nested(5000)}}`],
  ['many small values', `{"v":1,"token":[${'0,'.repeat(9000)}0]}`],
])('an auth with %s is refused with a typed error', async (_, auth) => {
  await using nodes = await startNodes({ kind: 'memory', count: 1 });
  await using socket = await RawSocket.open(nodes.servers[0]?.port ?? 0);
  socket.send(`40${auth}`);
  await expect(socket.next(/^44/)).resolves.toMatch(/"code":"(BAD_REQUEST|VERSION_UNSUPPORTED)"/);
});
