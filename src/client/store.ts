/** Where the resume token is kept: whoever has it comes back as the same user, on the same seat. */

/** Keeps one secret text. Throwing is allowed and means that nothing is kept. */
export interface ResumeStore {
  /** @returns the token, or null when there is none. */
  get(): string | null;
  /** Keeps it in place of the last one. @param token null forgets it. */
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

/** The token of one client: in memory, and in its store if it has one. */
export interface ResumeKeep {
  token: string | null;
  /** Whether a page loaded anew finds it. */
  readonly isKept: boolean;
  /** @returns whether there was one. */
  forget(): boolean;
  /** For whoever comes after us; we still have it. */
  forgetStored(): void;
  /** Forgets it, and lets another client of this page have the place. */
  close(): void;
}

/** The tab's own place, which two clients of one page cannot share: the one would replace the other for ever. */
let isTabTaken = false;

/** @param wanted undefined: the tab's own place, if it is free; null: nowhere. */
export function openKeep(wanted: ResumeStore | null | undefined): ResumeKeep {
  const isTab = wanted === undefined && !isTabTaken;
  const store = isTab ? tabStore() : wanted;
  if (isTab) isTabTaken = true;
  let token = read(store);
  let isOpen = true;
  const write = (text: string | null): void => {
    try {
      store?.set(text);
    } catch {
      // It is kept in memory; a page loaded anew starts afresh.
    }
  };
  return {
    get token() {
      return token;
    },
    set token(text) {
      token = text;
      if (isOpen) write(text);
    },
    isKept: store !== undefined && store !== null,
    forget() {
      const had = token !== null;
      this.token = null;
      return had;
    },
    forgetStored: () => write(null),
    close() {
      if (!isOpen) return;
      isOpen = false;
      if (isTab) isTabTaken = false;
      token = null;
      write(null);
    },
  };
}

function read(store: ResumeStore | null | undefined): string | null {
  try {
    return store?.get() ?? null;
  } catch {
    return null;
  }
}
