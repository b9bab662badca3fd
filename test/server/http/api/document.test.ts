/** The OpenAPI document is valid and complete, and every example in it works as a request. */
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { OpenAPIV3_1 } from 'openapi-types';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ERRORS } from '../../../../src/protocol/errors.ts';
import { MEMORY, startNodes } from '../../../support/nodes.ts';
import { ADMIN, createApiClient } from './api-client.ts';
import { type ExampleServer, startExampleServer } from './example-server.ts';

type Parameter = OpenAPIV3_1.ParameterObject;
type Response = OpenAPIV3_1.ResponseObject;

interface Found {
  readonly name: string;
  readonly path: string;
  readonly method: string;
  readonly operation: OpenAPIV3_1.OperationObject;
}

const ajv = new Ajv2020({ strict: false, allErrors: true });
let server: ExampleServer;
let document: OpenAPIV3_1.Document;
let operations: readonly Found[];

beforeAll(async () => {
  server = await startExampleServer();
  const answer = await fetch(`${server.url}/docs/json`);
  document = (await answer.json()) as OpenAPIV3_1.Document; // validated below
  operations = Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    Object.entries(item ?? {}).map(([method, operation]) => ({
      name: `${method} ${path}`,
      path,
      method: method.toUpperCase(),
      operation: operation as OpenAPIV3_1.OperationObject, // a path of this document contains only operations
    })),
  );
});
afterAll(() => server[Symbol.asyncDispose]());

/** Checks a value against a schema of the document. */
function expectFits(schema: unknown, value: unknown, what: string): void {
  // The components are compiled once, for all schemas that refer to them.
  if (ajv.getSchema('document') === undefined) ajv.addSchema({ $id: 'document', components: document.components });
  const compiled = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"document#/components')));
  compiled(value);
  expect(compiled.errors ?? [], `${what}: ${JSON.stringify(value)}`).toEqual([]);
}

describe('the document', () => {
  test('is valid OpenAPI 3.1', async () => {
    const validator = new Validator();
    expect(await validator.validate(structuredClone(document))).toEqual({ valid: true });
    expect(document.openapi).toBe('3.1.0');
  });

  test('contains every operation of the API', () => {
    expect(operations.map(({ name }) => name.toUpperCase().replace('/V1', '')).sort()).toEqual(
      [
        'POST /ROOMS',
        'GET /ROOMS',
        'GET /ROOMS/{CODE}',
        'PATCH /ROOMS/{CODE}',
        'DELETE /ROOMS/{CODE}',
        'DELETE /ROOMS/{CODE}/MEMBERS/{USERID}',
        'POST /ROOMS/{CODE}/MESSAGES',
        'GET /POOL',
        'POST /REFERENCES/{TYPE}',
        'GET /CALLS',
        'GET /CALLS/{REF}',
        'GET /WEBHOOKS',
        'GET /WEBHOOKS/{ID}/DEAD',
        'POST /WEBHOOKS/{ID}/REPLAY',
      ].sort(),
    );
  });

  test('describes the purpose, the scope, the errors and an example of each operation', () => {
    const tags = document.tags?.map(({ name }) => name);
    expect(new Set(operations.map(({ operation }) => operation.operationId)).size).toBe(operations.length);
    for (const { operation, name } of operations) {
      expect(operation.summary, name).toMatch(/^[A-Z][^.]+$/);
      expect(operation.description, name).toMatch(/Needs the scope `(read|write)`\.$/);
      expect(operation.security).toEqual([{ token: [] }]);
      expect(tags).toContain(operation.tags?.[0]);
      const { responses = {} } = operation;
      for (const status of ['401', '403', '422', '429', '500', '503'])
        expect(Object.keys(responses), name).toContain(status);
      for (const [status, response] of Object.entries(responses)) expectExample(name, status, response as Response);
      for (const parameter of (operation.parameters ?? []) as Parameter[]) {
        if (parameter.in === 'path')
          expect(parameter, name).toMatchObject({ required: true, example: expect.any(String) });
      }
    }
  });

  test('contains only error codes of the protocol', () => {
    const codes = new Set<string>();
    for (const { operation } of operations) {
      for (const { content } of Object.values(operation.responses ?? {}) as Response[]) {
        for (const code of Object.keys(content?.['application/problem+json']?.examples ?? {})) codes.add(code);
      }
    }
    for (const code of codes) expect(Object.keys(ERRORS)).toContain(code);
    expect(codes.size).toBeGreaterThan(10);
  });
});

function expectExample(name: string, status: string, { description, content = {} }: Response): void {
  expect(description).not.toBe('');
  expect(Object.keys(content).length === 0, `${name} ${status}`).toBe(status === '204');
  for (const [type, { schema, example, examples }] of Object.entries(content)) {
    const shown =
      example === undefined ? Object.values(examples ?? {}).map((one) => Reflect.get(one, 'value')) : [example];
    expect(shown.length).toBeGreaterThan(0);
    for (const value of shown) expectFits(schema, value, `${name} ${status} ${type}`);
    if (Number(status) >= 400) expect(type).toBe('application/problem+json');
  }
}

describe('every example', () => {
  test('of a request succeeds, and the answer matches the schema in the document', async () => {
    for (const { name, path, method, operation } of operations) {
      await using fixture = await server.createFixture();
      const { url, headers, body } = requestOf(path, operation);
      const answer = await server.api.request(
        method,
        fixture.withRealIds(url),
        body && fixture.withRealIds(JSON.stringify(body)),
        headers,
      );
      const response = operation.responses?.[String(answer.status)] as Response | undefined;
      expect(answer.status, `${name}: ${JSON.stringify(answer.body)}`).toBeLessThan(300);
      expect(response, `${name}: ${answer.status}`).toBeDefined();
      const schema = response?.content?.['application/json']?.schema;
      if (schema === undefined) expect(answer.body, name).toBeUndefined();
      else expectFits(schema, answer.body, name);
    }
  });
});

/** The request of the example in the document. */
function requestOf(path: string, { parameters = [], requestBody }: OpenAPIV3_1.OperationObject) {
  const shown = (parameters as Parameter[]).filter(({ example }) => example !== undefined);
  const of = (place: string) =>
    Object.fromEntries(shown.filter((one) => one.in === place).map((one) => [one.name, String(one.example)]));
  const below = path.replace('/v1', '').replaceAll(/\{(\w+)\}/g, (_, name: string) => of('path')[name] ?? '');
  const query = new URLSearchParams(of('query')).toString();
  const content = (requestBody as OpenAPIV3_1.RequestBodyObject | undefined)?.content['application/json'];
  if (content !== undefined) expectFits(content.schema, content.example, path);
  return { url: query === '' ? below : `${below}?${query}`, headers: of('header'), body: content?.example };
}

describe('the page', () => {
  test('needs no token, runs only scripts of this server, and no other page has its looser policy', async () => {
    const page = await fetch(`${server.url}/docs`);
    expect(page.status).toBe(200);
    expect(new URL(page.url).pathname).toBe('/docs/');
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("script-src 'self';");
    expect(policy).toContain("default-src 'self';");
    const html = await page.text();
    for (const [script] of html.matchAll(/<script[^>]*>(.*?)<\/script>/gs))
      expect(script).toMatch(/^<script src="\.\/static\/[a-z-]+\.js"[^>]*> <\/script>$/);
    const elsewhere = await fetch(`${server.url}/healthz`);
    expect(elsewhere.headers.get('content-security-policy')).not.toContain('unsafe-inline');
    const other = await fetch(`${server.url}/v1/pool`);
    expect(other.headers.get('content-security-policy')).not.toContain('unsafe-inline');
  });

  test('does not exist when apiDocs is off', async () => {
    await using nodes = await startNodes(MEMORY, { adminToken: ADMIN, apiDocs: false });
    for (const path of ['/docs', '/docs/', '/docs/json', '/docs/static/swagger-ui.css']) {
      expect((await fetch(`${nodes.url(0)}${path}`)).status).toBe(404);
    }
    await createApiClient(nodes.url(0)).expectStatus(200, 'GET', '/pool');
  });
});
