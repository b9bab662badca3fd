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
  /** For whoever comes after us; we still have it. */
  forgetStored(): void;
  /** Forgets what is stored of us, and lets another client of this page have the place. */
  close(): void;
}

/** The tab's own place, which two clients of one page cannot share: the one would replace the other for ever. */
let isTabTaken = false;

/** @param wanted undefined: the tab's own place, if it is free; null: nowhere. */
export function openKeep(wanted: ResumeStore | null | undefined): ResumeKeep {
  const isTab = wanted === undefined && !isTabTaken;
  const store = isTab ? tabStore() : wanted;
  if (isTab) isTabTaken = true;
  const stored = (): string => {
    try {
      return store?.get() ?? '';
    } catch {
      return '';
    }
  };
  /** The token, and what tells it from another client's: of one user and one second, the server's are alike. */
  let text = stored();
  let isKept = text !== '';
  const write = (kept: string): void => {
    try {
      store?.set(kept || null);
      isKept = store != null;
    } catch {
      // It is in memory alone; a page loaded anew starts afresh.
      isKept = false;
    }
  };
  return {
    get token() {
      return text.split(' ')[0] || null;
    },
    set token(token) {
      text = token === null ? '' : `${token} ${Math.random()}`;
      write(text);
    },
    get isKept() {
      return isKept;
    },
    forgetStored: () => write(''),
    close() {
      if (isTab) isTabTaken = false;
      // Whoever took over may keep its own there.
      if (stored() === text) write('');
    },
  };
}
