/** Schemas as the document shows them: what is named once is referred to by its name elsewhere. */
import { z } from 'zod';
import { shown } from './schemas.ts';

type JsonSchema = Readonly<Record<string, unknown>>;

export interface Schemas {
  /** What is sent or read there, as JSON Schema of 2020-12. */
  of(schema: z.ZodType): JsonSchema;
  /** Those with a name that any other has referred to. */
  readonly named: Readonly<Record<string, JsonSchema>>;
}

const DEFINITION = '#/$defs/';
const COMPONENT = '#/components/schemas/';

export function createSchemas(): Schemas {
  const named: Record<string, JsonSchema> = {};
  const of = (schema: z.ZodType): JsonSchema => {
    // As it stands on the wire: a brand is no part of it, and neither is what a query becomes when it has been read.
    const {
      $defs,
      $schema: _dialect,
      ...whole
    } = z.toJSONSchema(schema, {
      io: 'input',
      metadata: shown,
      unrepresentable: 'any',
      override: ({ jsonSchema }) => leaveOut(jsonSchema),
    });
    for (const [id, definition] of Object.entries($defs ?? {})) named[id] = withoutId(definition);
    const { id } = whole;
    if (typeof id !== 'string') return referring(whole);
    named[id] = withoutId(whole);
    return { $ref: COMPONENT + id };
  };
  return { of, named };
}

/** What says nothing: the bounds of whole numbers, and what `shown` has taken back. */
function leaveOut(schema: z.core.JSONSchema.BaseSchema): void {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  for (const [key, value] of Object.entries(schema)) if (value === undefined) Reflect.deleteProperty(schema, key);
}

function withoutId({ id: _id, ...schema }: JsonSchema): JsonSchema {
  return referring(schema);
}

/** To the components of the document, where the definitions go. */
function referring(schema: JsonSchema): JsonSchema {
  // What has just been written as JSON is read as the same.
  return JSON.parse(JSON.stringify(schema), (key, value) =>
    key === '$ref' && typeof value === 'string' ? value.replace(DEFINITION, COMPONENT) : value,
  ) as JsonSchema;
}
