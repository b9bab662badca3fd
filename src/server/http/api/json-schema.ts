/** Converts zod schemas to JSON Schema for the document; named schemas become references to components. */
import { z } from 'zod';
import { schemaDocs } from './schemas.ts';

type JsonSchema = Readonly<Record<string, unknown>>;

export interface Schemas {
  /** JSON Schema 2020-12 of the data on the wire. */
  of(schema: z.ZodType): JsonSchema;
  /** The named schemas used so far. */
  readonly named: Readonly<Record<string, JsonSchema>>;
}

const DEFINITION = '#/$defs/';
const COMPONENT = '#/components/schemas/';

export function createSchemas(): Schemas {
  const named: Record<string, JsonSchema> = {};
  const of = (schema: z.ZodType): JsonSchema => {
    // io: the input side, as on the wire, before transformations such as brands and parsed queries.
    const {
      $defs,
      $schema: _dialect,
      ...whole
    } = z.toJSONSchema(schema, {
      io: 'input',
      metadata: schemaDocs,
      unrepresentable: 'any',
      override: ({ jsonSchema }) => dropEmptyKeywords(jsonSchema),
    });
    for (const [id, definition] of Object.entries($defs ?? {})) named[id] = withoutId(definition);
    const { id } = whole;
    if (typeof id !== 'string') return withComponentRefs(whole);
    named[id] = withoutId(whole);
    return { $ref: COMPONENT + id };
  };
  return { of, named };
}

/** Drops the bounds that every integer has, and keywords that `schemaDocs` sets to undefined. */
function dropEmptyKeywords(schema: z.core.JSONSchema.BaseSchema): void {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  for (const [key, value] of Object.entries(schema)) if (value === undefined) Reflect.deleteProperty(schema, key);
}

function withoutId({ id: _id, ...schema }: JsonSchema): JsonSchema {
  return withComponentRefs(schema);
}

/** Redirects references from `$defs` to the components of the document. */
function withComponentRefs(schema: JsonSchema): JsonSchema {
  // Cast: a JSON object stays one after stringify and parse.
  return JSON.parse(JSON.stringify(schema), (key, value) =>
    key === '$ref' && typeof value === 'string' ? value.replace(DEFINITION, COMPONENT) : value,
  ) as JsonSchema;
}
