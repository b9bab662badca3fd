/** An HTTP server for pages that tests write, on localhost: browsers grant cameras there without https. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const TYPES = { html: 'text/html; charset=utf-8', js: 'text/javascript; charset=utf-8' } as const;

export interface PageServer extends AsyncDisposable {
  readonly origin: string;
  /** @param path such as `/room.js`; without an ending it is a page. */
  put(path: string, body: string): void;
}

export async function startPageServer(): Promise<PageServer> {
  const pages = new Map<string, string>();
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    const body = pages.get(pathname);
    response.writeHead(body === undefined ? 404 : 200, {
      'content-type': TYPES[pathname.endsWith('.js') ? 'js' : 'html'],
    });
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // a TCP server has no other kind of address
  // Browsers ask for it unasked, and complain on the console.
  pages.set('/favicon.ico', '');
  return {
    origin: `http://localhost:${port}`,
    put: (path, body) => void pages.set(path, body),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
