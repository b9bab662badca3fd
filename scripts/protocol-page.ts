/** Derives `docs/protocol.md`: the prose is in `protocol-page.md`, what is in double braces there comes from the source. */
import { readFileSync } from 'node:fs';
import type { z } from 'zod';
import { ERRORS, type ErrorCode } from '../src/protocol/errors.ts';
import { LIMITS, PROTOCOL_VERSION } from '../src/protocol/limits.ts';
import * as table from '../src/protocol/messages.ts';
import * as schemas from '../src/protocol/snapshot.ts';
import { OPTIONS } from '../src/server/options/options.ts';
import { ADVICE, HANDSHAKE_ERRORS, HTTP_ERRORS, NOTES } from './protocol-notes.ts';
import { boundsOf, bytesText, type Names, objectText, typeText } from './schema-text.ts';
import { tableText } from './table-text.ts';

const { iceServers } = table.REQUESTS.ice.reply.shape;

/** Types that have a section of their own, after `RoomSnapshot`. */
const OBJECTS: Readonly<Record<string, z.ZodObject>> = {
  RoomInfo: schemas.roomInfo,
  Member: schemas.member,
  Profile: schemas.profile,
  IceServer: iceServers.element,
  Limits: table.limits,
};
const WORDS: Readonly<Record<string, z.core.$ZodType>> = {
  RoomCode: schemas.roomCode,
  RoomRef: schemas.roomRef,
  UserId: schemas.userId,
  SessionNumber: schemas.sessionNumber,
  Name: schemas.displayName,
  Word: schemas.word,
  Instant: schemas.instant,
  Duration: schemas.duration,
  Revision: schemas.revision,
};
const NAMES: Names = new Map<z.core.$ZodType, string>([
  ...Object.entries({ RoomSnapshot: schemas.roomSnapshot, ...OBJECTS, ...WORDS }).map(
    ([name, schema]) => [schema, name] as const,
  ),
  [schemas.anyJson, 'Json'],
]);

/**
 * @throws when the prose asks for something that is not there, or a note is about a field that is not.
 */
export function printProtocolPage(): string {
  const notes = new Map(Object.entries(NOTES));
  const typeScript = (title: string, schema: z.ZodObject) => objectText(schema, title, NAMES, notes);
  const values: Readonly<Record<string, () => string>> = {
    version: () => String(PROTOCOL_VERSION),
    handshake: () => typeFence({ Auth: typeScript('handshake', table.handshake) }),
    'handshake errors': () => list(HANDSHAKE_ERRORS),
    'common errors': () => list(table.COMMON_ERRORS),
    words: () => words(),
    types: () => types(typeScript),
    requests: () => requests(typeScript),
    pushes: () => pushes(typeScript),
    errors: () => errors(),
    signal: () => bytesText(LIMITS.signalBytes),
    message: () => bytesText(LIMITS.messageBytes),
    depth: () => String(LIMITS.depth),
    values: () => String(LIMITS.values),
  };
  const template = readFileSync(new URL('protocol-page.md', import.meta.url), 'utf8');
  const page = template.replaceAll(/\{\{([a-z ]+)(?:: (\w+))?\}\}/g, (_, name: string, option: string | undefined) => {
    const value = option !== undefined && name === 'option' ? () => optionText(option) : values[name];
    if (value === undefined) throw new Error(`the prose asks for {{${name}}}`);
    return value();
  });
  if (notes.size > 0) throw new Error(`notes on what is not there: ${[...notes.keys()].join(', ')}`);
  return page;
}

type TypeScript = (title: string, schema: z.ZodObject) => string;

function requests(typeScript: TypeScript): string {
  return Object.entries(table.REQUESTS)
    .map(([name, { about, payload, reply, errors }]) =>
      [
        `### \`${name}\``,
        about,
        typeFence({ Payload: typeScript(`${name} payload`, payload), Reply: typeScript(`${name} reply`, reply) }),
        errors.length === 0 ? 'No errors of its own.' : `Errors: ${list(errors)}.`,
      ].join('\n\n'),
    )
    .join('\n\n');
}

function pushes(typeScript: TypeScript): string {
  return Object.entries(table.PUSHES)
    .map(([name, { about, body }]) =>
      [`### \`${name}\``, about, typeFence({ Body: typeScript(`${name} body`, body) })].join('\n\n'),
    )
    .join('\n\n');
}

function words(): string {
  const rows = Object.entries(WORDS).map(([name, schema]) => {
    const others: Names = new Map([...NAMES].filter(([named]) => named !== schema));
    const form = [typeText(schema, others), boundsOf(schema, others)].filter((part) => part !== undefined).join(', ');
    return [
      `\`${name}\``,
      form.replace(/matches (.*)/, (_, pattern: string) => `\`${pattern}\``),
      ADVICE.words[name] ?? '',
    ];
  });
  return tableText(['type', 'form', 'meaning'], rows);
}

function types(typeScript: TypeScript): string {
  const section = (name: string, text: string) => `### ${name}\n\n${typeFence({ [name]: text })}`;
  // A snapshot is the room's info and more, field by field: the schema is derived so.
  const snapshot = typeScript('RoomSnapshot', schemas.roomSnapshot.pick({ members: true }));
  return [
    section('RoomSnapshot', `RoomInfo & ${snapshot}`),
    ...Object.entries(OBJECTS).map(([name, schema]) => section(name, typeScript(name, schema))),
  ].join('\n\n');
}

function errors(): string {
  const rows = Object.entries(ERRORS).map(([code, entry]) => {
    // The keys of the table are the codes.
    const where = sentBy(code as ErrorCode);
    const retry = entry.retryable ? 'yes' : 'no';
    return [
      `\`${code}\``,
      entry.message,
      'reserved' in entry ? 'reserved' : retry,
      where,
      ADVICE.errors[code as ErrorCode],
    ];
  });
  return tableText(['code', 'message', 'retryable', 'answers', 'what to do'], rows);
}

function sentBy(code: ErrorCode): string {
  const named = Object.entries(table.REQUESTS).filter(([, { errors }]) => errors.some((own) => own === code));
  const places = [
    ...(HANDSHAKE_ERRORS.includes(code) ? ['the handshake'] : []),
    ...(HTTP_ERRORS.includes(code) ? ['the HTTP API'] : []),
    ...(table.COMMON_ERRORS.some((common) => common === code) ? ['any request'] : []),
    ...named.map(([name]) => `\`${name}\``),
  ];
  return places.join(', ') || '–';
}

function optionText(name: string): string {
  if (!Object.hasOwn(OPTIONS, name)) throw new Error(`the prose asks for the option ${name}`);
  // The name has just been found in the table.
  const value: unknown = OPTIONS[name as keyof typeof OPTIONS].schema.parse(undefined);
  if (typeof value !== 'number') return String(value);
  if (/Bytes(PerSecond)?$/.test(name)) return bytesText(value);
  return name.endsWith('Ms') ? durationText(value) : String(value);
}

export function durationText(ms: number): string {
  const units = [
    [3_600_000, 'h'],
    [60_000, 'min'],
    [1_000, 's'],
  ] as const;
  const unit = units.find(([size]) => ms >= size && ms % size === 0);
  return unit === undefined ? `${ms} ms` : `${ms / unit[0]} ${unit[1]}`;
}

function typeFence(types: Readonly<Record<string, string>>): string {
  const lines = Object.entries(types).map(([name, text]) => `type ${name} = ${text};`);
  return ['```ts', ...lines, '```'].join('\n');
}

const list = (codes: readonly string[]): string => codes.map((code) => `\`${code}\``).join(', ');
