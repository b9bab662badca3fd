/**
 * What is remembered. In the tab: it survives a refresh and is seen by no other tab. In the browser: it is still there
 * on the next visit. Where storage is blocked everything works, and nothing is remembered.
 */

/** `audio` and `video` hold `off` when the person has turned them off: a refresh turns nothing on again. */
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
    // As above.
  }
}

const placeOf = (key: Key): Storage => (key.startsWith('tab.') ? sessionStorage : localStorage);
