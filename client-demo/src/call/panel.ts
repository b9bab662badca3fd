/** The side panel with the list of people or the chat: one at a time, with focus management. */
import { elementById, elementIn, setLabel } from '../base/elements.ts';
import { texts } from '../texts/texts.ts';

type Name = 'people' | 'chat';

const call = elementById('call', HTMLElement);
const panel = elementById('panel', HTMLElement);
const unreadMark = elementIn(elementById('call-chat', HTMLButtonElement), '.unread', HTMLElement);

const PARTS: Readonly<Record<Name, { body: HTMLElement; toggle: HTMLButtonElement; focus: HTMLElement }>> = {
  people: {
    body: elementById('people-panel', HTMLElement),
    toggle: elementById('call-people', HTMLButtonElement),
    focus: elementById('people-heading', HTMLElement),
  },
  chat: {
    body: elementById('chat-panel', HTMLElement),
    toggle: elementById('call-chat', HTMLButtonElement),
    focus: elementById('chat-text', HTMLInputElement),
  },
};
const NAMES = ['people', 'chat'] as const;

export class Panel {
  readonly #chatOpened: () => void;
  #open: Name | null = null;
  #unread = 0;

  constructor(chatOpened: () => void) {
    this.#chatOpened = chatOpened;
    for (const name of NAMES) {
      const { body, toggle } = PARTS[name];
      toggle.addEventListener('click', () => (this.#open === name ? this.#close() : this.#show(name)));
      elementIn(body, '[data-close]', HTMLButtonElement).addEventListener('click', () => this.#close());
    }
    panel.addEventListener('keydown', ({ key, isComposing }) => key === 'Escape' && !isComposing && this.#close());
  }

  get isChatOpen(): boolean {
    return this.#open === 'chat';
  }

  reset(): void {
    this.#set(null);
    this.#count(0);
  }

  /** A message has arrived while the chat is closed. */
  unread(): void {
    this.#count(this.#unread + 1);
  }

  #show(name: Name): void {
    this.#set(name);
    if (name === 'chat') {
      this.#count(0);
      this.#chatOpened();
    }
    PARTS[name].focus.focus();
  }

  #close(): void {
    const name = this.#open;
    this.#set(null);
    if (name !== null) PARTS[name].toggle.focus();
  }

  #set(open: Name | null): void {
    this.#open = open;
    panel.hidden = open === null;
    call.dataset['panel'] = open ?? 'none';
    for (const name of NAMES) {
      PARTS[name].body.hidden = name !== open;
      PARTS[name].toggle.ariaExpanded = String(name === open);
    }
  }

  #count(unread: number): void {
    this.#unread = unread;
    unreadMark.hidden = unread === 0;
    unreadMark.textContent = unread > 9 ? '9+' : String(unread);
    setLabel(PARTS.chat.toggle, unread === 0 ? texts.call.chat : texts.chat.unread(unread));
  }
}
