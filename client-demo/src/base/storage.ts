/**
 * Stored settings. In the tab: kept over a refresh, not visible to other tabs. In the browser: kept for the next visit.
 * Where storage is blocked, nothing is stored and everything works.
 */

/** `audio` and `video` are `off` if the user has turned them off: a refresh does not turn them on. */
type Key = 'tab.audio' | 'tab.video' | 'name' | 'camera' | 'microphone' | 'speaker';

export function recall(key: Key): string | null {
  try {
    return placeOf(key).getItem(`signalbox.${key}`);
  } catch {
    return null;
  }
}

export function remember(key: Key, value: string | null): void {
  try {
    if (value === null) placeOf(key).removeItem(`signalbox.${key}`);
    else placeOf(key).setItem(`signalbox.${key}`, value);
  } catch {
    // Storage is blocked.
  }
}

const placeOf = (key: Key): Storage => (key.startsWith('tab.') ? sessionStorage : localStorage);
