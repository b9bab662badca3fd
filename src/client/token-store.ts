/** Stores the resume token: a client that sends it is the same user again, on the same seat. */
import { uniqueId } from './unique-id.ts';

/** Keeps one secret text. It may throw: then nothing is kept. */
export interface ResumeStore {
  /** @returns the token, or null when there is none. */
  get(): string | null;
  /** Replaces the token. @param token null removes it. */
  set(token: string | null): void;
}

/** The part of the DOM's `Storage` that is used here. */
interface TextStorage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

/**
 * A store in the page's `sessionStorage`: it belongs to one tab and survives a refresh.
 *
 * @param key of its own for each client of a page. (A client without the option `store` has a key for each server.)
 * @returns undefined where there is no such storage (Node), or where it is blocked.
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
  /** Whether a reloaded page finds it. */
  readonly isKept: boolean;
  /** Removes it from the store, not from memory: a reloaded page starts without a token. */
  forgetStored(): void;
  /** Releases the tab's storage for another client of the page. @param forgets whether to remove our token from it */
  close(forgets: boolean): void;
}

/** A longer text is not one of our tokens: the server would refuse it at every attempt. */
const MAX_LENGTH = 4096;

/** Whether a client of this page uses the tab's storage: two clients with one token would replace each other for ever. */
let isTabTaken = false;

/**
 * @param wanted undefined: the tab's storage, if no other client uses it; null: none
 * @param origin of the server: no other server may see the token
 */
export function openTokenStore(wanted: ResumeStore | null | undefined, origin: string): TokenStore {
  const isTab = wanted === undefined && !isTabTaken;
  const store = isTab ? tabStore(`signalbox.resume ${origin}`) : wanted;
  if (isTab) isTabTaken = true;
  const read = (): string => {
    try {
      const kept: unknown = store?.get();
      return typeof kept === 'string' && kept.length < MAX_LENGTH ? kept : '';
    } catch {
      return '';
    }
  };
  /** The token and an id of this client: two tokens of one user issued in the same second are equal. */
  let text = read();
  let isKept = text !== '';
  const write = (kept: string): void => {
    try {
      store?.set(kept || null);
      isKept = store != null;
    } catch {
      // Kept in memory only: a reloaded page starts without a token.
      isKept = false;
    }
  };
  return {
    get token() {
      return text.split(' ')[0] || null;
    },
    set token(token) {
      text = token === null ? '' : `${token} ${uniqueId()}`;
      write(text);
    },
    get isKept() {
      return isKept;
    },
    forgetStored: () => write(''),
    close(forgets) {
      if (isTab) isTabTaken = false;
      // Another client may have stored its own token meanwhile.
      if (forgets && read() === text) write('');
    },
  };
}
