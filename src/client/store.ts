/** Where the resume token is kept: whoever has it comes back as the same user, on the same seat. */

/** Keeps one secret text. Throwing is allowed and means that nothing is kept. */
export interface ResumeStore {
  /** @returns the token, or null when there is none. */
  get(): string | null;
  /** @param token null forgets it. */
  set(token: string | null): void;
}

/** As much of the DOM's `Storage` as is used here. */
interface TextStorage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

/**
 * A store on the `sessionStorage` of the page: it belongs to one tab and survives a refresh.
 *
 * @param key two clients of one page need one each.
 * @returns undefined where there is no such storage (Node), or it is blocked.
 */
export function tabStore(key = 'signalbox.resume'): ResumeStore | undefined {
  try {
    const storage = (globalThis as { sessionStorage?: TextStorage }).sessionStorage;
    return (
      storage && {
        get: () => storage.getItem(key),
        set: (token) => (token === null ? storage.removeItem(key) : storage.setItem(key, token)),
      }
    );
  } catch {
    return undefined;
  }
}
