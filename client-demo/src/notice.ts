/** The one line at the top of the page. A lasting state stays until it is over; a passing remark gives way to it. */
import { part } from './elements.ts';

export interface Action {
  readonly label: string;
  run(): void;
}

interface Line {
  readonly words: string;
  readonly action?: Action | undefined;
}

/** Of two lasting states the first matters more. */
const STATES = ['connection', 'sound'] as const;
type State = (typeof STATES)[number];

const REMARK_MS = 5_000;
const box = part('notice', HTMLElement);
const text = part('notice-text', HTMLElement);
const button = part('notice-action', HTMLButtonElement);

export class Notice {
  readonly #lasting = new Map<State, Line>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  hold(state: State, words: string, action?: Action): void {
    this.#lasting.set(state, { words, action });
    this.#show();
  }

  release(state: State): void {
    if (this.#lasting.delete(state)) this.#show();
  }

  clear(): void {
    this.#lasting.clear();
    this.#show();
  }

  remark(words: string): void {
    this.#put({ words }, 'remark');
    this.#timer = setTimeout(() => this.#show(), REMARK_MS);
  }

  #show(): void {
    clearTimeout(this.#timer);
    const state = STATES.find((name) => this.#lasting.has(name));
    const line = state === undefined ? undefined : this.#lasting.get(state);
    if (line === undefined) box.hidden = true;
    else this.#put(line, 'lasting');
  }

  #put({ words, action }: Line, kind: 'lasting' | 'remark'): void {
    clearTimeout(this.#timer);
    // Unchanged words are not set again: a screen reader would read them again.
    if (text.textContent !== words) text.textContent = words;
    box.dataset['kind'] = kind;
    box.hidden = false;
    button.hidden = action === undefined;
    button.textContent = action?.label ?? '';
    button.onclick = () => action?.run();
  }
}
