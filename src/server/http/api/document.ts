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

/** @param version of the API. The major version is part of the path; this one tells which features were added. */
export function documentOf(
  operations: readonly Operation[],
  { version, tags }: { readonly version: string; readonly tags: Readonly<Record<string, string>> },
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
      version,
      description: INTRODUCTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    // Relative to the document, so that it is right behind any proxy.
    servers: [{ url: '/' }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description: 'A token that is configured on this server, with the scope read or write.',
        },
      },
      // The types of the document cover JSON Schema only in part.
      schemas: schemas.named as Record<string, OpenAPIV3_1.SchemaObject>,
    },
  };
}

const INTRODUCTION =
  'Rooms, members, codes, references, call records and webhooks, for the back ends of the operator of this server. Every ' +
  'request carries a bearer token. Errors are application/problem+json with an error code of the protocol.';

function operationObject(operation: Operation, schemas: Schemas): OpenAPIV3_1.OperationObject {
  const { id, tag, summary, description, scope, body, example } = operation;
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: `${description} Needs the scope \`${scope}\`.`,
    security: [{ token: [] }],
    parameters: parametersOf(operation, schemas),
    ...(body !== undefined && {
      requestBody: {
        required: !body.safeParse({}).success,
        content: { 'application/json': { schema: schemas.of(body), example: example.body } },
      },
    }),
    responses: { ...responsesOf(operation, schemas), ...problemsOf(operation, schemas) },
  };
}

function parametersOf({ params, query, headers, example }: Operation, schemas: Schemas): OpenAPIV3_1.ParameterObject[] {
  const locations = [
    ['path', params, example.params],
    ['query', query, example.query],
    ['header', headers, example.headers],
  ] as const;
  return locations.flatMap(([location, schema, examples]) =>
    schema === undefined ? [] : fieldsOf(location, schema, examples, schemas),
  );
}

/** `x-request-id` as `X-Request-Id`: Node has header names in lower case. */
const capitalized = (header: string): string => header.replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase());

/** Not listed as a parameter: OpenAPI describes content negotiation by the content types of the responses. */
const NEGOTIATED = 'accept';

function fieldsOf(
  location: string,
  schema: z.ZodType,
  examples: unknown,
  schemas: Schemas,
): OpenAPIV3_1.ParameterObject[] {
  const { properties, required } = schemas.of(schema);
  const listed = Object.entries(Object(properties)).filter(([name]) => name !== NEGOTIATED);
  return listed.map(([name, field]) => {
    const { description, ...rest } = Object(field);
    const text: unknown = Reflect.get(Object(examples), name);
    const value = rest.type === 'integer' && typeof text === 'string' ? Number(text) : text;
    return {
      name: location === 'header' ? capitalized(name) : name,
      in: location,
      required: Array.isArray(required) && required.includes(name),
      ...(typeof description === 'string' && { description }),
      schema: rest,
      ...(value !== undefined && { example: value }),
    };
  });
}

function responsesOf({ response }: Operation, schemas: Schemas): OpenAPIV3_1.ResponsesObject {
  const { statuses, body, example, otherTypes = {}, headers = {} } = response;
  const others = Object.entries(otherTypes).map(([type, text]) => [
    type,
    { schema: { type: 'string' }, example: text },
  ]);
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

const RETRY_AFTER = { 'Retry-After': 'Seconds to wait before the next attempt.' };
const HEADERS: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  401: { 'WWW-Authenticate': '`Bearer`.' },
  429: RETRY_AFTER,
  503: RETRY_AFTER,
};

const headersOf = (headers: Readonly<Record<string, string>>): Record<string, OpenAPIV3_1.HeaderObject> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
  );

/** Messages in place of the protocol's own texts, which address members. */
const MESSAGES: Partial<Record<ErrorCode, { readonly message: string }>> = {
  FORBIDDEN: { message: SCOPE_NEEDED },
  PEER_NOT_FOUND: { message: NO_SUCH_MEMBER },
};

interface ProblemCase {
  readonly code: ErrorCode;
  readonly status: number;
}

/** Errors of a request body: malformed JSON, another content type, too large. */
const BODY_PROBLEMS: readonly ProblemCase[] = [
  { code: 'BAD_REQUEST', status: 400 },
  { code: 'BAD_REQUEST', status: 415 },
  { code: 'PAYLOAD_TOO_LARGE', status: 413 },
];

/** One response per status, with an example for each error code that has this status. */
function problemsOf({ scope, body, problems }: Operation, schemas: Schemas): OpenAPIV3_1.ResponsesObject {
  const codes = new Set<ErrorCode>([...COMMON_PROBLEMS, ...(scope === 'write' ? WRITE_PROBLEMS : []), ...problems]);
  const cases: ProblemCase[] = [...codes].map((code) => ({
    code,
    status: code === 'BAD_REQUEST' ? UNPROCESSABLE : statusOf(code),
  }));
  if (body !== undefined) cases.push(...BODY_PROBLEMS);
  const schema = schemas.of(problem);
  const statuses = new Set(cases.map(({ status }) => status));
  return Object.fromEntries(
    [...statuses].map((status) => {
      const of = cases.filter((one) => one.status === status);
      const examples = of.map(
        ({ code }) => [code, { value: problemBody(code, { status, ...MESSAGES[code] }) }] as const,
      );
      const description = `${STATUS_CODES[status] ?? 'Refused'}: ${of.map(({ code }) => `\`${code}\``).join(', ')}.`;
      const headers = headersOf(HEADERS[status] ?? {});
      return [
        status,
        { description, headers, content: { [PROBLEM_TYPE]: { schema, examples: Object.fromEntries(examples) } } },
      ];
    }),
  );
}
