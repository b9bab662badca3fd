/** A client of the REST API, as a back end uses it. */
import { expect } from 'vitest';
import type { RoomSnapshot } from '../../../../src/protocol/snapshot.ts';

export const ADMIN = 'the-token-of-these-tests';

export interface ApiResponse<Body = unknown> {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed where it is JSON, text otherwise; undefined when the response has no body. */
  readonly body: Body;
}

export interface ApiClient {
  request(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<ApiResponse>;
  /** Sends a request and expects that status. @returns the body of the response. */
  expectStatus<Body = unknown>(
    status: number,
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Body>;
  /** Sends a request and expects a problem as the response. @returns its status and code. */
  refused(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<string>;
}

/** @param token the empty string makes a request with an empty token */
export function createApiClient(url: string, token: string | undefined = ADMIN): ApiClient {
  const request: ApiClient['request'] = async (method, path, body, headers = {}) => {
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
    request,
    async expectStatus(status, ...parameters) {
      const response = await request(...parameters);
      expect(response, `${parameters[0]} ${parameters[1]}`).toMatchObject({ status });
      // The type parameter is not verified: each test compares the fields it uses.
      return response.body as never;
    },
    async refused(...parameters) {
      const { status, headers, body } = await request(...parameters);
      expect(headers.get('content-type')).toContain('application/problem+json');
      // The assertion below checks this type.
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

/** Creates a room without members, owned by the client's token. */
export const createRoom = (client: ApiClient, settings: object = {}): Promise<RoomSnapshot> =>
  client.expectStatus<RoomSnapshot>(201, 'POST', '/rooms', settings);
