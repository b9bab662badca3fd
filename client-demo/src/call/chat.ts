/** The chat: messages and announcements in one list. */
import { Batch } from '../base/batch.ts';
import { createHtml, elementById } from '../base/elements.ts';
import { texts } from '../texts/texts.ts';
import type { SendResult } from './chat-messages.ts';

const log = elementById('chat-log', HTMLOListElement);
const scroller = elementById('chat-scroller', HTMLElement);
const form = elementById('chat-form', HTMLFormElement);
const field = elementById('chat-text', HTMLInputElement);
const error = elementById('chat-error', HTMLElement);

const MAX_LINES = 500;

/** Farther down than the end of any list. */
const END_PX = 1e7;

export class Chat {
  readonly #lines = new Batch<HTMLLIElement>(MAX_LINES, (lines) => this.#append(lines));

  constructor(say: (text: string) => Promise<SendResult>) {
    // Focusable, so that the keyboard can scroll it.
    scroller.tabIndex = 0;
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      const text = field.value.trim();
      if (text !== '') void this.#say(text, say);
    });
  }

  clear(): void {
    this.#lines.clear();
    log.replaceChildren(createHtml('li', 'chat-event', texts.chat.empty));
    field.value = '';
    error.textContent = '';
  }

  heard(name: string, text: string): void {
    this.#line(name, text, 'chat-line');
  }

  tell(event: string): void {
    this.#lines.add(createHtml('li', 'chat-event', event));
  }

  async #say(text: string, say: (text: string) => Promise<SendResult>): Promise<void> {
    field.value = '';
    error.textContent = '';
    const { reached, failure } = await say(text);
    if (reached) this.#line(texts.person.me, text, 'chat-line own');
    // The unsent text comes back, unless the user has typed on.
    else if (field.value === '') field.value = text;
    if (failure !== null) error.textContent = reached ? texts.chat.lost(failure) : failure;
  }

  #line(name: string, text: string, className: string): void {
    const line = createHtml('li', className);
    line.append(createHtml('span', 'chat-name', name), createHtml('span', 'chat-words', text));
    this.#lines.add(line);
  }

  #append(lines: readonly HTMLLIElement[]): void {
    // Not if the user has scrolled up.
    const atEnd = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 40;
    const fragment = document.createDocumentFragment();
    fragment.append(...lines);
    log.append(fragment);
    while (log.childElementCount > MAX_LINES) log.firstElementChild?.remove();
    if (atEnd) scroller.scrollTop = END_PX;
  }
}
