/** What is said by typing, and what happens in the room, in one list. */
import { make, part } from '../base/elements.ts';
import { texts } from '../texts/texts.ts';
import type { Saying } from './talk.ts';

const log = part('chat-log', HTMLOListElement);
const scroller = part('chat-scroller', HTMLElement);
const form = part('chat-form', HTMLFormElement);
const field = part('chat-text', HTMLInputElement);
const error = part('chat-error', HTMLElement);

const MOST_LINES = 500;

export class Chat {
  constructor(say: (text: string) => Promise<Saying>) {
    // What scrolls has to be reached by the keys that scroll.
    scroller.tabIndex = 0;
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      const text = field.value.trim();
      if (text !== '') void this.#say(text, say);
    });
  }

  clear(): void {
    log.replaceChildren(make('li', 'chat-event', texts.chat.empty));
    field.value = '';
    error.textContent = '';
  }

  heard(name: string, text: string): void {
    this.#line(name, text, 'chat-line');
  }

  tell(event: string): void {
    this.#append(make('li', 'chat-event', event));
  }

  async #say(text: string, say: (text: string) => Promise<Saying>): Promise<void> {
    field.value = '';
    error.textContent = '';
    const { reached, failure } = await say(text);
    if (reached) this.#line(texts.person.me, text, 'chat-line own');
    // Nothing anybody typed is lost, unless they have gone on typing.
    else if (field.value === '') field.value = text;
    if (failure !== null) error.textContent = reached ? texts.chat.lost(failure) : failure;
  }

  #line(name: string, text: string, className: string): void {
    const line = make('li', className);
    line.append(make('span', 'chat-name', name), make('span', 'chat-words', text));
    this.#append(line);
  }

  #append(line: HTMLLIElement): void {
    // Who has scrolled up to read is left there.
    const atEnd = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 40;
    log.append(line);
    if (log.childElementCount > MOST_LINES) log.firstElementChild?.remove();
    if (atEnd) scroller.scrollTop = scroller.scrollHeight;
  }
}
