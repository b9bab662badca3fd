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
 * @param key two clients of one page need one each. (A client that is given no store uses one for each server.)
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
export interface TokenStore {
  token: string | null;
  /** Whether a page loaded anew finds it. */
  readonly isKept: boolean;
  /** For whoever comes after us; we still have it. */
  forgetStored(): void;
  /** Lets another client of this page have the place. @param forgets whether nothing of us stays there */
  close(forgets: boolean): void;
}

const MAX_LENGTH = 4096;

/** The tab's own place, which two clients of one page cannot share: the one would replace the other for ever. */
let isTabTaken = false;

/**
 * @param wanted undefined: the tab's own place, if it is free; null: nowhere
 * @param origin of the server: no other may be told the token
 */
export function openTokenStore(wanted: ResumeStore | null | undefined, origin: string): TokenStore {
  const isTab = wanted === undefined && !isTabTaken;
  const store = isTab ? tabStore(`signalbox.resume ${origin}`) : wanted;
  if (isTab) isTabTaken = true;
  const stored = (): string => {
    try {
      const kept: unknown = store?.get();
      // Whatever else lies there is none of our tokens, and what is too long would be refused for ever.
      return typeof kept === 'string' && kept.length < MAX_LENGTH ? kept : '';
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
    close(forgets) {
      if (isTab) isTabTaken = false;
      // Whoever took over may keep its own there.
      if (forgets && stored() === text) write('');
    },
  };
}
