/** The log contains no secrets and no personal data. */
import { expect, test } from 'vitest';
import { connectClient, TestClient } from '../support/client.ts';
import { startRedis } from '../support/redis.ts';
import { startSignalbox } from '../support/signalbox.ts';

const SECRET = 'the-secret-of-all-nodes';
const ADMIN = 'the-token-of-the-operator';
const PASSWORD = 'hunter2-of-redis';
const RELAY = ['the-secret-of-the-relay', 'the-one-that-it-had-before'];

test('the debug log of a whole session contains no code, token, secret, name or message', async () => {
  await using redis = await startRedis({ args: ['--requirepass', PASSWORD] });
  const redisUrl = redis.url.replace('//', `//:${PASSWORD}@`);
  await using server = await startSignalbox({
    logLevel: 'debug',
    graceMs: 200,
    redisUrl,
    secret: SECRET,
    adminToken: ADMIN,
    turnUrls: ['turn:turn.example.org'],
    turnSecrets: RELAY,
  });
  await using host = await connectClient(server.url, { name: 'Rosalind' });
  await using guest = await connectClient(server.url);
  const resume = host.all('welcome')[0]?.resume ?? '';
  const { room, iceServers } = await host.must('room:create', { name: 'Confidential' });
  const credentials = iceServers.map(({ credential = '' }) => credential);
  expect(credentials.filter(Boolean)).toHaveLength(RELAY.length);
  await guest.must('room:join', { code: room.code });
  await host.must('signal', { to: guest.userId, data: 'v=0 o=sdp' });
  await host.must('message', { data: 'whispered' });
  expect(await guest.refused('room:join', { code: '999999' })).toBe('ROOM_NOT_FOUND');
  expect(await guest.refused('signal', { to: host.userId, data: undefined })).toBe('BAD_REQUEST');
  await fetch(`${server.url}/v1/pool`, { headers: { authorization: `Bearer ${ADMIN}` } });
  await fetch(`${server.url}/v1/pool`, { headers: { authorization: `Bearer not-${ADMIN}` } });
  host.cut();
  await guest.next('member:away');
  await using back = new TestClient(server.url, { resume });
  await back.next('welcome');
  await guest.next('member:back');
  const thief = new TestClient(server.url, { resume: `${resume}x` });
  await new Promise((resolve) => thief.socket.once('connect_error', resolve));
  await back.must('room:kick', { userId: guest.userId, ban: true });
  await back.must('room:close');
  expect(await server.child.stop()).toEqual({ code: 0, signal: null });

  const lines = server.child.lines.filter((line) => !/^ {2}/.test(line));
  expect(lines.length).toBeGreaterThan(3);
  const log = lines.join('\n');
  const [, payload = '', signature = ''] = resume.split('.');
  for (const secret of [
    room.code,
    '999999',
    resume,
    payload,
    signature,
    SECRET,
    ADMIN,
    PASSWORD,
    ...RELAY,
    ...credentials,
    'Rosalind',
    'Confidential',
    'sdp',
    'whispered',
  ]) {
    expect(log).not.toContain(secret);
  }
});
