/** What is said by typing, and what happens in the room, in one list. */
import { make, part } from './elements.ts';
import { texts } from './texts.ts';

const log = part('chat-log', HTMLOListElement);
const form = part('chat-form', HTMLFormElement);
const field = part('chat-text', HTMLInputElement);
const error = part('chat-error', HTMLElement);

const MOST_LINES = 500;

export class Chat {
  /** `send` answers with what is wrong, or null when it was sent. */
  constructor(send: (text: string) => Promise<string | null>) {
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      const text = field.value.trim();
      if (text !== '') void this.#send(text, send);
    });
  }

  clear(): void {
    log.replaceChildren(make('li', 'chat-event', texts.call.chatEmpty));
    field.value = '';
    error.textContent = '';
  }

  say(name: string, text: string, own: boolean): void {
    const line = make('li', own ? 'chat-line own' : 'chat-line');
    line.append(make('span', 'chat-name', name), make('span', 'chat-words', text));
    this.#append(line);
  }

  tell(event: string): void {
    this.#append(make('li', 'chat-event', event));
  }

  async #send(text: string, send: (text: string) => Promise<string | null>): Promise<void> {
    field.value = '';
    const wrong = await send(text);
    error.textContent = wrong ?? '';
    // Nothing anybody typed is lost, unless they have gone on typing.
    if (wrong !== null && field.value === '') field.value = text;
  }

  #append(line: HTMLLIElement): void {
    // Who has scrolled up to read is left there.
    const atEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 40;
    log.append(line);
    if (log.childElementCount > MOST_LINES) log.firstElementChild?.remove();
    if (atEnd) log.scrollTop = log.scrollHeight;
  }
}
