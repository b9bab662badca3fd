/**
 * What this tab remembers. `sessionStorage`, because it belongs to one tab and survives a refresh: the resume token of
 * one tab must not be used by another, which would take the seat away from it.
 */

/** `audio` and `video` hold `off` when the person has turned them off: a refresh turns nothing on again. */
type Key = 'resume' | 'name' | 'audio' | 'video';

export function recall(key: Key): string | null {
  try {
    return sessionStorage.getItem(`signalbox.${key}`);
  } catch {
    return null; // storage is blocked: the call works, a refresh starts afresh
  }
}

export function remember(key: Key, value: string | null): void {
  try {
    if (value === null) sessionStorage.removeItem(`signalbox.${key}`);
    else sessionStorage.setItem(`signalbox.${key}`, value);
  } catch {
    // As above.
  }
}
