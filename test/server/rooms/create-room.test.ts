/** The log line of a new room names its creator, whichever way the room was created. */
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { connectClient } from '../../support/client.ts';
import { MEMORY, startNodes } from '../../support/nodes.ts';
import { createApiClient, createRoom } from '../http/api/api-client.ts';

const TOKEN = 'a-token-of-these-tests';

interface Line {
  readonly msg: string;
}

test('a created room is logged with its creator: a user, or the token of a back end', async () => {
  const lines: Line[] = [];
  const log = pino({ level: 'info' }, { write: (line) => void lines.push(JSON.parse(line)) });
  await using nodes = await startNodes(MEMORY, { adminTokens: [`shop=write:${TOKEN}`] }, { log });
  await using ann = await connectClient(nodes.url(0));
  const { room } = await ann.must('room:create');
  const owned = await createRoom(createApiClient(nodes.url(0), TOKEN));
  const created = lines.filter(({ msg }) => msg === 'a room was created');
  expect(created).toEqual([
    expect.objectContaining({ level: 30, ref: room.ref, by: ann.userId, code: expect.any(String) }),
    expect.objectContaining({ level: 30, ref: owned.ref, by: 'api:shop', code: expect.any(String) }),
  ]);
  // Codes are logged as digests.
  for (const { code } of [room, owned]) expect(JSON.stringify(created)).not.toContain(`"${code}"`);
});
