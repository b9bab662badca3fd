/** What happens around the client: the network comes and goes, the page is hidden, kept for later, frozen, woken. */

export interface PageListener {
  /** Something may have happened to the connection, or just ended: look after it now. */
  readonly wake: () => void;
  /** The page goes away. `mayReturn`: it is kept as it is, and may be shown again. */
  readonly hide: (mayReturn: boolean) => void;
}

/** As much of the DOM as is asked for here; a page has all of it, Node nothing. */
interface Page {
  readonly addEventListener?: EventTarget['addEventListener'];
  readonly document?: EventTarget & { readonly visibilityState: string };
  readonly navigator?: { readonly onLine?: boolean };
}
const page = globalThis as Page;

/** Whether the device knows that it has no network. It may be wrong both ways. */
export const isOffline = (): boolean => page.navigator?.onLine === false;

/** @returns what ends the watch. */
export function watchPage({ wake, hide }: PageListener): () => void {
  const { document } = page;
  const watch = new AbortController();
  const listen = (target: Page | undefined, name: string, listener: (event: Event) => void): void =>
    target?.addEventListener?.(name, listener, watch);
  listen(page, 'online', wake);
  listen(page, 'offline', wake);
  listen(page, 'pageshow', wake);
  listen(page, 'pagehide', (event) => hide((event as { persisted?: boolean }).persisted === true));
  listen(document, 'resume', wake);
  listen(document, 'visibilitychange', () => document?.visibilityState === 'visible' && wake());
  return () => watch.abort();
}
