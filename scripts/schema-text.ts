/** Schemas as people read them: the notation of TypeScript, with what the types cannot say in comments. */
import { z } from 'zod';
import { LIMITS } from '../src/protocol/limits.ts';

/** How schemas are called where they occur in others. */
export type Names = ReadonlyMap<z.core.$ZodType, string>;
/** What is said of a field beside its type, by `<type>.<field>`. Taken out when it has been said. */
export type Notes = Map<string, string>;

const WIDTH = 100;

/** `{ code: RoomCode; ref?: RoomRef }`, on one line if it fits and nothing is said of its fields. */
export function objectText(schema: z.ZodObject, title: string, names: Names, notes: Notes): string {
  const fields = Object.entries(schema.shape).map(([key, field]) =>
    fieldOf(key, field, `${title}.${key}`, names, notes),
  );
  if (fields.length === 0) return '{}';
  const line = `{ ${fields.map(({ text }) => text).join('; ')} }`;
  if (line.length <= WIDTH && fields.every(({ note }) => note === '')) return line;
  return ['{', ...fields.map(({ text, note }) => `  ${text};${note && ` // ${note}`}`), '}'].join('\n');
}

function fieldOf(key: string, field: z.core.$ZodType, path: string, names: Names, notes: Notes) {
  const { schema, optional } = unwrap(field);
  const said = notes.get(path);
  notes.delete(path);
  const note = [boundsOf(schema, names), said].filter((part) => part !== undefined).join('; ');
  return { text: `${key}${optional ? '?' : ''}: ${typeText(schema, names)}`, note };
}

function unwrap(schema: z.core.$ZodType): { schema: z.core.$ZodType; optional: boolean } {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodExactOptional || schema instanceof z.ZodDefault) {
    return { schema: unwrap(schema.def.innerType).schema, optional: true };
  }
  return { schema, optional: false };
}

/** @throws TypeError for a kind of schema that the protocol has not used yet. */
export function typeText(schema: z.core.$ZodType, names: Names): string {
  const name = names.get(schema);
  if (name !== undefined) return name;
  if (schema instanceof z.ZodNullable) return `${typeText(schema.def.innerType, names)} | null`;
  if (schema instanceof z.ZodArray) return `${typeText(schema.def.element, names)}[]`;
  if (schema instanceof z.ZodEnum) return schema.options.map((option) => `'${option}'`).join(' | ');
  if (schema instanceof z.ZodPipe) return typeText(schema.def.in, names);
  if (schema instanceof z.ZodCustom) return 'Json';
  if (schema instanceof z.ZodString) return 'string';
  if (schema instanceof z.ZodNumber) return 'number';
  if (schema instanceof z.ZodBoolean) return 'boolean';
  throw new TypeError(`no text for a schema of kind ${schema._zod.def.type}`);
}

/** What a value must keep to beside its type. Of a named schema, its name says it. */
export function boundsOf(schema: z.core.$ZodType, names: Names): string | undefined {
  if (names.has(schema)) return undefined;
  if (schema instanceof z.ZodCustom) return sizeOf(schema);
  if (schema instanceof z.ZodPipe) return boundsOf(schema.def.in, names);
  if (schema instanceof z.ZodNumber) return rangeOf(schema);
  if (!(schema instanceof z.ZodString)) return undefined;
  const pattern = patternOf(schema);
  if (pattern !== undefined) return pattern;
  return schema.maxLength === null ? undefined : `at most ${schema.maxLength} characters`;
}

function rangeOf({ def: { checks = [] }, isInt }: z.ZodNumber): string | undefined {
  const bound = (kind: 'greater_than' | 'less_than') =>
    checks.map((check) => check._zod.def).find((def): def is Bound => def.check === kind);
  const [least, most] = [bound('greater_than'), bound('less_than')];
  if (least !== undefined && most !== undefined) return `${String(least.value)} to ${String(most.value)}`;
  const words = [
    isInt ? 'whole' : undefined,
    least && `${least.inclusive ? 'from' : 'more than'} ${String(least.value)}`,
    most && `up to ${String(most.value)}`,
  ];
  return words.filter((word) => word !== undefined).join(', ') || undefined;
}

type Bound = z.core.$ZodCheckGreaterThanDef | z.core.$ZodCheckLessThanDef;

function patternOf(schema: z.ZodString): string | undefined {
  const { checks = [] } = schema.def;
  return checks
    .map((check) => check._zod.def)
    .filter((def): def is z.core.$ZodCheckRegexDef => 'pattern' in def)
    .map(({ pattern }) => `matches ${pattern.source}`)
    .at(0);
}

/** A schema of JSON does not tell its limit, so it is asked: which of the sizes does it take, and not one byte more? */
function sizeOf(schema: z.ZodCustom): string | undefined {
  const takes = (bytes: number) => schema.safeParse('x'.repeat(bytes - 2)).success;
  const sizes = [LIMITS.signalBytes, LIMITS.messageBytes, LIMITS.metadataBytes];
  const size = sizes.find((bytes) => takes(bytes) && !takes(bytes + 1));
  return size === undefined ? undefined : `at most ${bytesText(size)}`;
}

export const bytesText = (bytes: number): string => (bytes % 1024 === 0 ? `${bytes / 1024} KiB` : `${bytes} bytes`);
