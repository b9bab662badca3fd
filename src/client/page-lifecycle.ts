/** Events of the page and of the device's network: online and offline, hidden, frozen, shown again. */

export interface PageListener {
  /** The connection may be dead, or the network is back: check it now. */
  readonly wake: () => void;
  /** The page is being hidden. @param mayReturn whether it goes into the back/forward cache and may be shown again */
  readonly hide: (mayReturn: boolean) => void;
}

/** The part of the DOM that is used here; Node has none of it. */
interface Page {
  readonly addEventListener?: EventTarget['addEventListener'];
  readonly document?: EventTarget & { readonly visibilityState: string };
  readonly navigator?: { readonly onLine?: boolean };
}
const page = globalThis as Page;

/** Whether the device reports no network. The report may be wrong either way. */
export const isOffline = (): boolean => page.navigator?.onLine === false;

/** @returns a function that removes all listeners. */
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
