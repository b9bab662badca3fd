/** What happens around the client: the network comes and goes, the page is hidden, kept for later, frozen, woken. */

export interface SurroundingEvents {
  /** Something may have happened to the connection, or just ended: look after it now. */
  wake(): void;
  /** The page goes away. `mayReturn`: it is kept as it is, and may be shown again. */
  hide(mayReturn: boolean): void;
  /** The page that was kept is shown again. */
  show(): void;
}

/** As much of the DOM as is asked for here; a page has all of it, Node nothing. */
interface Page {
  readonly addEventListener?: EventTarget['addEventListener'];
  readonly removeEventListener?: EventTarget['removeEventListener'];
  readonly document?: EventTarget & { readonly visibilityState: string };
  readonly navigator?: { readonly onLine?: boolean };
}
const page = globalThis as Page;

/** Whether the device knows that it has no network. It may be wrong both ways. */
export const isOffline = (): boolean => page.navigator?.onLine === false;

/** @returns what ends the watch. */
export function watchSurroundings({ wake, hide, show }: SurroundingEvents): () => void {
  const { document } = page;
  const ends: (() => void)[] = [];
  const listen = (target: Page | EventTarget | undefined, name: string, listener: (event: Event) => void): void => {
    target?.addEventListener?.(name, listener);
    ends.push(() => target?.removeEventListener?.(name, listener));
  };
  const persisted = (event: Event): boolean => (event as { persisted?: boolean }).persisted === true;
  listen(page, 'online', wake);
  listen(page, 'offline', wake);
  listen(page, 'pagehide', (event) => hide(persisted(event)));
  listen(page, 'pageshow', (event) => persisted(event) && show());
  listen(document, 'resume', wake);
  listen(document, 'visibilitychange', () => document?.visibilityState === 'visible' && wake());
  return () => {
    for (const end of ends) end();
  };
}
