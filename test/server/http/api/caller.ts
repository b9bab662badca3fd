/** A back end: asks the API, and remembers nothing. */
import { expect } from 'vitest';
import type { RoomSnapshot } from '../../../../src/protocol/snapshot.ts';

export const ADMIN = 'the-token-of-these-tests';

export interface Told<Body = unknown> {
  readonly status: number;
  readonly headers: Headers;
  /** What it says in JSON; undefined when it says nothing. */
  readonly body: Body;
}

export interface Caller {
  ask(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Told>;
  /** Asks for what must be granted, with that status. */
  must<Body = unknown>(
    status: number,
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Body>;
  /** Asks for what must be refused. @returns the status and the code. */
  refused(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<string>;
}

/** @param token none is sent when it is undefined. */
export function createCaller(url: string, token: string | undefined = ADMIN): Caller {
  const ask: Caller['ask'] = async (method, path, body, headers = {}) => {
    const response = await fetch(`${url}/v1${path}`, {
      method,
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson =
      /json/.test(response.headers.get('content-type') ?? '') &&
      !/ndjson/.test(response.headers.get('content-type') ?? '');
    return {
      status: response.status,
      headers: response.headers,
      body: text === '' ? undefined : isJson ? JSON.parse(text) : text,
    };
  };
  return {
    ask,
    async must(status, ...request) {
      const told = await ask(...request);
      expect(told, `${request[0]} ${request[1]}`).toMatchObject({ status });
      // What a test goes on to use, it compares.
      return told.body as never;
    },
    async refused(...request) {
      const { status, headers, body } = await ask(...request);
      expect(headers.get('content-type')).toContain('application/problem+json');
      // As the assertion says next.
      const problem = body as { status: number; code: string; type: string; title: string; retryable: boolean };
      expect(problem).toMatchObject({
        type: 'about:blank',
        status,
        title: expect.any(String),
        retryable: expect.any(Boolean),
      });
      return `${status} ${problem.code}`;
    },
  };
}

/** A room of a back end's own. */
export const createRoom = (caller: Caller, settings: object = {}): Promise<RoomSnapshot> =>
  caller.must<RoomSnapshot>(201, 'POST', '/rooms', settings);
