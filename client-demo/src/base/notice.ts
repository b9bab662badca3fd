/**
 * Notices of the page: a lasting state is shown at the top until it is over, a remark floats over the page for a moment.
 */
import { elementById, setText } from './elements.ts';

interface Action {
  readonly label: string;
  run(): void;
}

interface Line {
  readonly words: string;
  readonly action: Action | undefined;
}

/** Lasting states by priority: the first one is shown. */
const STATES = ['connection', 'relay', 'sound', 'sharing'] as const;
type State = (typeof STATES)[number];

const REMARK_MS = 5_000;
/** Rate limit: of the remarks within this time only the last is shown, so that each can be read, or heard. */
const PACE_MS = 700;
const box = elementById('notice', HTMLElement);
const text = elementById('notice-text', HTMLElement);
const button = elementById('notice-action', HTMLButtonElement);
const toast = elementById('remark', HTMLElement);
const toastText = elementById('remark-text', HTMLElement);

export class Notice {
  readonly #lasting = new Map<State, Line>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #pace: ReturnType<typeof setTimeout> | undefined;
  /** The remark to show after `PACE_MS`. */
  #next: string | null = null;

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
    this.hush();
  }

  remark(words: string): void {
    if (this.#pace === undefined) this.#say(words);
    else this.#next = words;
  }

  /** Hides the remark and drops the next one. */
  hush(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#pace);
    this.#pace = undefined;
    this.#next = null;
    toast.hidden = true;
  }

  #say(words: string): void {
    this.hush();
    setText(toastText, words);
    toast.hidden = false;
    this.#timer = setTimeout(() => this.hush(), REMARK_MS);
    this.#pace = setTimeout(() => {
      this.#pace = undefined;
      if (this.#next !== null) this.#say(this.#next);
    }, PACE_MS);
  }

  #show(): void {
    const state = STATES.find((name) => this.#lasting.has(name));
    const line = state === undefined ? undefined : this.#lasting.get(state);
    box.hidden = line === undefined;
    if (line === undefined) return;
    box.dataset['state'] = state;
    setText(text, line.words);
    button.hidden = line.action === undefined;
    setText(button, line.action?.label ?? '');
    button.onclick = () => line.action?.run();
  }
}
