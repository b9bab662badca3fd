/** The first view: name, room code, and a preview of the camera. */
import { normaliseTypedCode, type RoomCode } from '../../../src/client/index.ts';
import { cleanName } from '../../../src/protocol/display-name.ts';
import { codeOfAddress, grouped } from '../base/code.ts';
import { elementById, setText } from '../base/elements.ts';
import { recall, remember } from '../base/storage.ts';
import { texts } from '../texts/texts.ts';
import { CodeField } from './code-field.ts';

/** An error as a sentence, and whether it concerns the code. */
export interface Complaint {
  readonly words: string;
  readonly isOfCode: boolean;
}

export interface LobbyEvents {
  /** Resolves with the error, or null. */
  join: (code: RoomCode) => Promise<Complaint | null>;
  create: () => Promise<Complaint | null>;
}

const form = elementById('lobby-form', HTMLFormElement);
const heading = elementById('lobby-heading', HTMLElement);
const lead = elementById('lobby-lead', HTMLElement);
const name = elementById('lobby-name', HTMLInputElement);
const error = elementById('lobby-error', HTMLElement);
const join = elementById('lobby-join', HTMLButtonElement);
const create = elementById('lobby-create', HTMLButtonElement);

export class Lobby {
  readonly #events: LobbyEvents;
  readonly #code = new CodeField(
    elementById('lobby-code', HTMLInputElement),
    elementById('lobby-boxes', HTMLElement),
    (hadLetters) => this.#edited(hadLetters),
  );
  #invited: RoomCode | undefined;

  constructor(events: LobbyEvents) {
    this.#events = events;
    name.value = recall('name') ?? '';
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#join();
    });
    create.addEventListener('click', () => void this.#run(create, () => this.#events.create()));
    name.addEventListener('change', () => remember('name', cleanName(name.value)));
    window.addEventListener('hashchange', () => this.fromAddress());
  }

  /** Number of digits in a code of this server. */
  set digits(digits: number) {
    if (digits === this.#code.digits) return;
    this.#code.digits = digits;
    this.fromAddress();
  }

  /** The code of an opened link is filled in; one click joins. */
  fromAddress(): void {
    this.#invited = codeOfAddress(this.#code.digits);
    if (this.#invited !== undefined) this.#code.value = this.#invited;
    this.#showLead();
  }

  /** The first focus: with the code of an invitation, the join button. */
  get start(): HTMLElement {
    return this.#code.value === '' ? heading : join;
  }

  /** The name to send, or undefined for none. */
  get name(): string | undefined {
    return cleanName(name.value) ?? undefined;
  }

  #edited(hadLetters: boolean): void {
    if (this.#code.value !== this.#invited) this.#forgetInvitation();
    if (hadLetters) this.#complain(texts.lobby.codeDigitsOnly);
    else this.#complain(this.#code.value.length === this.#code.digits ? (this.#wrong ?? '') : '');
  }

  #complain(words: string, isOfCode = words !== ''): void {
    setText(error, words);
    this.#code.invalid = isOfCode;
  }

  #showLead(): void {
    const invited = this.#invited;
    setText(lead, invited === undefined ? texts.lobby.lead : texts.lobby.invited(grouped(invited)));
  }

  /** No room has the code, or another one was typed. */
  #forgetInvitation(): void {
    this.#invited = undefined;
    this.#showLead();
  }

  get #wrong(): string | null {
    const { value, digits } = this.#code;
    if (value.length === digits && value.startsWith('0')) return texts.lobby.codeFromZero;
    return value.length === digits ? null : texts.lobby.codeIncomplete(digits);
  }

  async #join(): Promise<void> {
    const { value, digits } = this.#code;
    const wanted = normaliseTypedCode(value, digits);
    if (wanted === undefined) {
      this.#complain(this.#wrong ?? '');
      this.#code.focus();
    } else await this.#run(join, () => this.#events.join(wanted));
  }

  async #run(button: HTMLButtonElement, step: () => Promise<Complaint | null>): Promise<void> {
    if (form.ariaBusy === 'true') return;
    remember('name', cleanName(name.value));
    this.#complain('');
    const words = button.textContent;
    form.ariaBusy = 'true';
    button.textContent = texts.lobby.busy;
    try {
      const complaint = await step();
      this.#complain(complaint?.words ?? '', complaint?.isOfCode ?? false);
      if (complaint?.isOfCode === true) this.#forgetInvitation();
    } finally {
      form.ariaBusy = 'false';
      button.textContent = words;
    }
  }
}
