/** The OpenAPI document, derived from the operations. */
import { STATUS_CODES } from 'node:http';
import type { OpenAPIV3_1 } from 'openapi-types';
import type { z } from 'zod';
import type { ErrorCode } from '../../../protocol/errors.ts';
import { PROBLEM_TYPE, problemBody, statusOf } from '../problem.ts';
import { UNPROCESSABLE } from './failures.ts';
import { createSchemas, type Schemas } from './json-schema.ts';
import { COMMON_PROBLEMS, NO_SUCH_MEMBER, type Operation, SCOPE_NEEDED, WRITE_PROBLEMS } from './operation.ts';
import { problem } from './schemas.ts';

export const PREFIX = '/v1';

/** @param version of the API: it is part of the path, so this tells what was added. */
export function documentOf(
  operations: readonly Operation[],
  about: { readonly version: string; readonly tags: Readonly<Record<string, string>> },
): OpenAPIV3_1.Document {
  const schemas = createSchemas();
  const paths: Record<string, OpenAPIV3_1.PathItemObject> = {};
  for (const operation of operations) {
    const path = PREFIX + operation.path;
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: operationObject(operation, schemas) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Signalbox',
      version: about.version,
      description: INTRODUCTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    // Where it is served from, whatever stands in front of it.
    servers: [{ url: '/' }],
    tags: Object.entries(about.tags).map(([name, description]) => ({ name, description })),
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description: 'A token of this server’s owner, with the scope read or write.',
        },
      },
      // JSON Schema, which the types of the document describe only in part.
      schemas: schemas.named as Record<string, OpenAPIV3_1.SchemaObject>,
    },
  };
}

const INTRODUCTION =
  'Rooms, members, codes, references, calls and webhooks, for the back ends of whoever runs this server. Every request ' +
  'carries a bearer token. What is refused is answered with application/problem+json and a code of the protocol.';

function operationObject(operation: Operation, schemas: Schemas): OpenAPIV3_1.OperationObject {
  const { id, tag, summary, about, scope, body, example } = operation;
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: `${about} Needs the scope \`${scope}\`.`,
    security: [{ token: [] }],
    parameters: parametersOf(operation, schemas),
    ...(body !== undefined && {
      requestBody: {
        required: !body.safeParse({}).success,
        content: { 'application/json': { schema: schemas.of(body), example: example.body } },
      },
    }),
    responses: { ...answersOf(operation, schemas), ...problemsOf(operation, schemas) },
  };
}

function parametersOf({ params, query, headers, example }: Operation, schemas: Schemas): OpenAPIV3_1.ParameterObject[] {
  const places = [
    ['path', params, example.params],
    ['query', query, example.query],
    ['header', headers, example.headers],
  ] as const;
  return places.flatMap(([place, schema, examples]) =>
    schema === undefined ? [] : fieldsOf(place, schema, examples, schemas),
  );
}

/** Node has them in small letters, and nobody else. */
const inCapitals = (header: string): string => header.replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase());

/** What is to be had is said by the content of the responses. */
const NEGOTIATED = 'accept';

function fieldsOf(
  place: string,
  schema: z.ZodType,
  examples: unknown,
  schemas: Schemas,
): OpenAPIV3_1.ParameterObject[] {
  const { properties, required } = schemas.of(schema);
  const shownOnes = Object.entries(Object(properties)).filter(([name]) => name !== NEGOTIATED);
  return shownOnes.map(([name, field]) => {
    const { description, ...rest } = Object(field);
    const text: unknown = Reflect.get(Object(examples), name);
    const value = rest.type === 'integer' && typeof text === 'string' ? Number(text) : text;
    return {
      name: place === 'header' ? inCapitals(name) : name,
      in: place,
      required: Array.isArray(required) && required.includes(name),
      ...(typeof description === 'string' && { description }),
      schema: rest,
      ...(value !== undefined && { example: value }),
    };
  });
}

function answersOf({ answer }: Operation, schemas: Schemas): OpenAPIV3_1.ResponsesObject {
  const { statuses, body, example, alsoAs = {}, headers = {} } = answer;
  const others = Object.entries(alsoAs).map(([type, text]) => [type, { schema: { type: 'string' }, example: text }]);
  const content = body && {
    'application/json': { schema: schemas.of(body), example },
    ...Object.fromEntries(others),
  };
  return Object.fromEntries(
    Object.entries(statuses).map(([status, description]) => [
      status,
      { description, headers: headersOf(headers), ...(content && { content }) },
    ]),
  );
}

const RETRY_AFTER = { 'Retry-After': 'Seconds to wait before the same request has a chance.' };
const HEADERS: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  401: { 'WWW-Authenticate': '`Bearer`.' },
  429: RETRY_AFTER,
  503: RETRY_AFTER,
};

const headersOf = (headers: Readonly<Record<string, string>>): Record<string, OpenAPIV3_1.HeaderObject> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
  );

/** Where the protocol's own text speaks to members. */
const BETTER: Partial<Record<ErrorCode, { readonly message: string }>> = {
  FORBIDDEN: { message: SCOPE_NEEDED },
  PEER_NOT_FOUND: { message: NO_SUCH_MEMBER },
};

interface Case {
  readonly code: ErrorCode;
  readonly status: number;
}

/** No JSON; another type; too much of it. */
const OF_A_BODY: readonly Case[] = [
  { code: 'BAD_REQUEST', status: 400 },
  { code: 'BAD_REQUEST', status: 415 },
  { code: 'PAYLOAD_TOO_LARGE', status: 413 },
];

/** One response for each status, with an example for each code that it may stand for. */
function problemsOf({ scope, body, problems }: Operation, schemas: Schemas): OpenAPIV3_1.ResponsesObject {
  const codes = new Set<ErrorCode>([...COMMON_PROBLEMS, ...(scope === 'write' ? WRITE_PROBLEMS : []), ...problems]);
  const cases: Case[] = [...codes].map((code) => ({
    code,
    status: code === 'BAD_REQUEST' ? UNPROCESSABLE : statusOf(code),
  }));
  if (body !== undefined) cases.push(...OF_A_BODY);
  const schema = schemas.of(problem);
  const statuses = new Set(cases.map(({ status }) => status));
  return Object.fromEntries(
    [...statuses].map((status) => {
      const of = cases.filter((one) => one.status === status);
      const examples = of.map(({ code }) => [code, { value: problemBody(code, { status, ...BETTER[code] }) }] as const);
      const description = `${STATUS_CODES[status] ?? 'Refused'}: ${of.map(({ code }) => `\`${code}\``).join(', ')}.`;
      const headers = headersOf(HEADERS[status] ?? {});
      return [
        status,
        { description, headers, content: { [PROBLEM_TYPE]: { schema, examples: Object.fromEntries(examples) } } },
      ];
    }),
  );
}
