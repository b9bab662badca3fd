/** Options are validated before anything is started. */
import { describe, expect, test } from 'vitest';
import { createServer, OptionError } from '../../../src/index.ts';
import { OPTIONS, type PartialOptions, policyOf, poolOf, readOptions } from '../../../src/server/options/options.ts';

const TURN = { turnUrls: ['turn:turn.example.org:3478?transport=udp'], turnSecrets: ['s'.repeat(16)] };

/** Reads options without types, as a JavaScript program passes them. */
const read = (options: Record<string, unknown>) => readOptions(options as PartialOptions);

describe('an invalid option is refused by name', () => {
  test.each([
    ['prot', { prot: 3000 }],
    ['__proto__', JSON.parse('{"__proto__":{"port":1}}')],
    ['constructor', { constructor: 1 }],
    ['port', { port: '3000' }],
    ['port', { port: 65_536 }],
    ['port', { port: -1 }],
    ['port', { port: 3000.5 }],
    ['port', { port: Number.NaN }],
    ['host', { host: 1 }],
    ['nodeId', { nodeId: 'a node' }],
    ['nodeId', { nodeId: '' }],
    ['nodeId', { nodeId: 'n'.repeat(65) }],
    ['redisPrefix', { redisPrefix: '{all}' }],
    ['redisPrefix', { redisPrefix: '' }],
    ['redisUrl', { redisUrl: '' }],
    ['secret', { secret: 'too short' }],
    ['adminToken', { adminToken: 'too short' }],
    ['allowedOrigins', { allowedOrigins: 'https://example.org' }],
    ['allowedOrigins', { allowedOrigins: [''] }],
    ['trustedProxies', { trustedProxies: ['10.0.0.0/33'] }],
    ['transports', { transports: [] }],
    ['transports', { transports: ['webtransport'] }],
    ['demo', { demo: 'yes' }],
    ['turnUrls', { turnSecrets: TURN.turnSecrets }],
    ['turnSecrets', { turnUrls: TURN.turnUrls }],
    ['turnUrls', { ...TURN, turnUrls: TURN.turnUrls[0] }],
    ['turnUrls', { ...TURN, turnUrls: ['turn:'] }],
    ['turnUrls', { ...TURN, turnUrls: ['turn://turn.example.org'] }],
    ['turnUrls', { ...TURN, turnUrls: ['turn:user@turn.example.org'] }],
    ['turnUrls', { ...TURN, turnUrls: ['turn:turn.example.org?transport=sctp'] }],
    ['turnUrls', { ...TURN, turnUrls: [...TURN.turnUrls, 'stun:turn.example.org'] }],
    ['turnSecrets', { ...TURN, turnSecrets: ['s'.repeat(15)] }],
    ['turnSecrets', { ...TURN, turnSecrets: [...TURN.turnSecrets, ''] }],
    ['turnSecrets', { ...TURN, turnSecrets: Array.from('abc', (letter) => letter.repeat(16)) }],
    ['turnTtlMs', { ...TURN, turnTtlMs: 39_999 }],
    ['turnTtlMs', { turnTtlMs: 0 }],
    ['codeDigits', { codeDigits: 5 }],
    ['codeDigits', { codeDigits: 9 }],
    ['poolSize', { poolSize: 150 }],
    ['poolSize', { poolSize: 0 }],
    ['poolSize', { poolSize: 900_100 }],
    ['poolLowWater', { poolLowWater: 1.1 }],
    ['maxUsers', { maxUsers: 1 }],
    ['maxUsers', { maxUsers: 101 }],
    ['graceMs', { graceMs: 0 }],
    ['graceMs', { graceMs: 2 ** 31 }],
    ['frameBytes', { frameBytes: 64 * 1024 }],
    ['heartbeatIntervalMs', { heartbeatIntervalMs: 60_000 }],
    ['tickMs', { tickMs: 60_000 }],
    ['strikes', { strikes: 0 }],
    ['freeMisses', { freeMisses: -1 }],
    ['eventsPerSecond', { eventsPerSecond: Number.POSITIVE_INFINITY }],
  ])('%s: %j', async (option, given) => {
    await expect(createServer(given as PartialOptions)).rejects.toThrow(
      expect.objectContaining({ name: 'OptionError', option }),
    );
  });

  test('the message never repeats a secret', () => {
    for (const name of ['secret', 'adminToken'] as const) {
      expect(() => read({ [name]: 'hunter2' })).toThrow(OptionError);
      expect(() => read({ [name]: 'hunter2' })).not.toThrow('hunter2');
    }
    const turnSecrets = [...TURN.turnSecrets, 'hunter2'];
    expect(() => read({ ...TURN, turnSecrets })).toThrow(OptionError);
    expect(() => read({ ...TURN, turnSecrets })).not.toThrow(/hunter2|sss/);
  });
});

describe('a text with something invisible is refused, by every door, with the character and without the text', () => {
  const TOKEN = 'abcdefghijklmnopqrstuvwx';
  const ends = [
    ['\n', 'a line feed (U+000A) at its end'],
    ['\r', 'a carriage return (U+000D)'],
    [' ', 'a blank (U+0020)'],
    ['\u00a0', 'U+00A0'],
    ['\u200b', 'U+200B'],
    ['\ufeff', 'U+FEFF'],
    ['\0', 'U+0000'],
    ['\u2028', 'U+2028'],
  ] as const;
  const texts = {
    secret: TOKEN,
    adminToken: TOKEN,
    dataDir: 'dd',
    host: '127.0.0.1',
    redisUrl: 'redis://r',
    databaseUrl: 'sqlite:x.db',
    nodeId: 'n',
    redisPrefix: 'sb:',
  };
  const lists = {
    adminTokens: `shop=write:${TOKEN}`,
    webhookSecrets: TOKEN,
    turnSecrets: TOKEN,
    webhookUrls: 'https://a.example/',
    allowedOrigins: 'https://a.example',
    trustedProxies: '10.0.0.1',
    turnUrls: 'turn:t.example',
    stunUrls: 'stun:t.example',
    itemTypes: 'invoice=5:INV:8',
  };

  test.each(ends)('%j', (character, says) => {
    for (const [option, text] of Object.entries(texts)) {
      expect(() => read({ [option]: text + character })).toThrow(
        expect.objectContaining({ option, message: expect.stringContaining(says) }),
      );
      expect(() => read({ [option]: character + text })).toThrow(expect.objectContaining({ option }));
      expect(() => read({ [option]: text + character })).not.toThrow(TOKEN);
    }
    for (const [option, text] of Object.entries(lists)) {
      expect(() => read({ [option]: [text + character] })).toThrow(
        expect.objectContaining({ option, message: expect.stringContaining(says) }),
      );
    }
  });

  test('a token that no header carries as it is', () => {
    for (const character of ['ö', '€', '😀', '"', ' ', '\u0301', ':', ',']) {
      const token = `${TOKEN}${character}x`;
      for (const [option, value] of [
        ['adminToken', token],
        ['adminTokens', [`shop=read:${token}`]],
      ] as const) {
        expect(() => read({ [option]: value })).toThrow(expect.objectContaining({ option }));
        expect(() => read({ [option]: value })).not.toThrow(TOKEN);
      }
    }
    expect(() => read({ adminToken: 'x'.repeat(513) })).toThrow('adminToken: ');
    expect(read({ adminToken: `${TOKEN}._~+/=-` }).adminToken).toBe(`${TOKEN}._~+/=-`);
  });

  test('but a secret may be words, and a path may have blanks and any script', () => {
    const secret = 'correct horse battery stäple';
    expect(read({ secret, dataDir: './my data/می\u200cخواهم' })).toMatchObject({ secret });
  });
});

describe('a TURN server', () => {
  test.each([
    'turn:turn.example.org',
    'turn:turn.example.org:3478?transport=tcp',
    'turns:turn.example.org:443?transport=tcp',
    'turn:203.0.113.10:3478',
    'turn:[2001:db8::10]:3478?transport=udp',
  ])('may be %s', (url) => {
    expect(readOptions({ ...TURN, turnUrls: [url] }).turnUrls).toEqual([url]);
  });

  test('has one secret, or two during a change', () => {
    expect(readOptions(TURN).turnTtlMs).toBe(60 * 60_000);
    const turnSecrets = [...TURN.turnSecrets, 't'.repeat(16)];
    expect(readOptions({ ...TURN, turnSecrets }).turnSecrets).toEqual(turnSecrets);
  });

  test('needs a credential lifetime of at least four ticks; without a TURN server any lifetime is accepted', () => {
    expect(readOptions({ ...TURN, turnTtlMs: 40_000 }).turnTtlMs).toBe(40_000);
    expect(readOptions({ ...TURN, turnTtlMs: 4000, tickMs: 1000 }).turnTtlMs).toBe(4000);
    expect(readOptions({ turnTtlMs: 1 }).turnTtlMs).toBe(1);
  });
});

describe('defaults', () => {
  const options = readOptions({});

  test('are those of the protocol and the lifecycle', () => {
    expect(options).toMatchObject({
      pingIntervalMs: 10_000,
      pingTimeoutMs: 5000,
      heartbeatIntervalMs: 30_000,
      userTtlMs: 60_000,
      graceMs: 30_000,
      roomIdleMs: 30 * 60_000,
      roomEmptyMs: 5 * 60_000,
      roomMaxAgeMs: 24 * 60 * 60_000,
      codeCooldownMs: 10 * 60_000,
      tickMs: 10_000,
      drainMs: 30_000,
      frameBytes: 96 * 1024,
      connectTimeoutMs: 5000,
      headersTimeoutMs: 10_000,
      eventsPerSecond: 20,
      eventsBurst: 100,
      strikes: 10,
      freeMisses: 5,
      maxUsers: 8,
      codeDigits: 6,
      transports: ['websocket'],
      allowedOrigins: [],
    });
    expect(poolOf(options).perShard * 100).toBe(900_000);
    expect(policyOf(options)).toMatchObject({ leaseMs: 60_000, graceMs: 30_000, idempotencyMs: 600_000 });
  });

  test('apply to options that are undefined', () => {
    const undefineds = Object.fromEntries(Object.keys(OPTIONS).map((name) => [name, undefined]));
    expect(read(undefineds)).toEqual(options);
  });

  test('for the pool: more digits make more codes', () => {
    expect(poolOf(readOptions({ codeDigits: 8 })).perShard * 100).toBe(90_000_000);
  });
});

describe('the defaults of heartbeat and tick follow a short userTtlMs', () => {
  test.each([
    [60_000, 30_000, 10_000],
    [120_000, 30_000, 10_000],
    [30_000, 15_000, 5000],
    [3000, 1500, 500],
    [1001, 501, 167],
    [200, 100, 100],
  ])('userTtlMs %i', (userTtlMs, heartbeatIntervalMs, tickMs) => {
    expect(readOptions({ userTtlMs })).toMatchObject({ heartbeatIntervalMs, tickMs });
  });

  test('unless heartbeat and tick are given', () => {
    const given = { userTtlMs: 3000, heartbeatIntervalMs: 2000, tickMs: 100 };
    expect(readOptions(given)).toMatchObject(given);
  });

  test('down to the minimum, which allows one tick', () => {
    expect(() => readOptions({ userTtlMs: 199 })).toThrow('userTtlMs');
    expect(readOptions({ userTtlMs: 200 }).tickMs).toBe(100);
  });
});

test.each(['1.2.3', '1', '0x7f.0.0.1', '127.1', '010.0.0.1', '1.2.3.4.', '１.2.3.4'])(
  'an origin whose host %s would become another IPv4 address is refused',
  (host) => {
    expect(() => readOptions({ allowedOrigins: [`http://${host}`] })).toThrow(/not an origin/);
  },
);
