/**
 * One input, drawn as a box for every digit. The browser's own field does the typing, so the keyboard of a phone, an
 * input method, autofill, undo and screen readers find what they know; the boxes only show what is in it.
 */
import { codeIn, digitsIn, groupLength } from '../base/code.ts';
import { createHtml } from '../base/elements.ts';

export class CodeField {
  readonly #input: HTMLInputElement;
  readonly #frame: HTMLElement;
  readonly #edited: (hadLetters: boolean) => void;
  #boxes: readonly HTMLElement[] = [];
  #digits = 0;

  /** @param edited after every change by the person, who may have tried to put letters in. */
  constructor(input: HTMLInputElement, frame: HTMLElement, edited: (hadLetters: boolean) => void) {
    this.#input = input;
    this.#frame = frame;
    this.#edited = edited;
    this.digits = 6;
    input.addEventListener('input', (event) => this.#typed(event instanceof InputEvent && event.isComposing));
    input.addEventListener('compositionend', () => this.#typed(false));
    input.addEventListener('paste', (event) => this.#pasted(event));
    input.addEventListener('click', (event) => this.#pointed(event));
    for (const name of ['focus', 'blur', 'select', 'keyup'] as const) input.addEventListener(name, () => this.#draw());
    document.addEventListener('selectionchange', () => this.#draw());
  }

  get digits(): number {
    return this.#digits;
  }

  /** As many as the codes of this server have. */
  set digits(digits: number) {
    if (digits === this.#digits) return;
    this.#digits = digits;
    this.#boxes = Array.from({ length: digits }, () => createHtml('span', 'code-box'));
    this.#boxes[groupLength(digits)]?.classList.add('second-group');
    this.#frame.replaceChildren(...this.#boxes);
    this.#draw();
  }

  /** What has been typed so far, as 0 to 9. */
  get value(): string {
    return digitsIn(this.#input.value).slice(0, this.#digits);
  }

  set value(digits: string) {
    this.#input.value = digits;
    this.#draw();
  }

  set invalid(invalid: boolean) {
    this.#input.ariaInvalid = String(invalid);
  }

  focus(): void {
    this.#input.focus();
  }

  #typed(composing: boolean): void {
    // What an input method has not finished yet is its own.
    const hadLetters = !composing && this.#tidy();
    this.#draw();
    this.#edited(hadLetters);
  }

  /**
   * Leaves digits only, and as many as there are boxes: into a full field a digit goes in place of the next one.
   *
   * @returns whether there were letters that no code has.
   */
  #tidy(): boolean {
    const { value, selectionStart } = this.#input;
    const caret = selectionStart ?? value.length;
    const whole = /\D/.test(value) ? codeIn(value, this.#digits) : undefined;
    const before = whole ?? digitsIn(value.slice(0, caret));
    const after = whole === undefined ? digitsIn(value.slice(caret)) : '';
    const tooMany = Math.max(0, before.length + after.length - this.#digits);
    const tidy = `${before}${after.slice(tooMany)}`.slice(0, this.#digits);
    // Setting it takes away the browser's undo, so only when there is something to change.
    if (tidy === value) return false;
    this.#input.value = tidy;
    const end = Math.min(before.length, this.#digits);
    this.#input.setSelectionRange(end, end);
    return whole === undefined && /\p{Letter}/u.test(value);
  }

  /** A whole code replaces what is there; anything else is put in where the caret stands, by the browser. */
  #pasted(event: ClipboardEvent): void {
    const code = codeIn(event.clipboardData?.getData('text') ?? '', this.#digits);
    if (code === undefined) return;
    event.preventDefault();
    this.value = code;
    this.#edited(false);
  }

  /** The text under the boxes is narrower than they are: the caret goes to the box, not to where the browser puts it. */
  #pointed({ clientX, detail }: MouseEvent): void {
    if (detail > 1) {
      this.#input.select();
      return;
    }
    const box = this.#boxes.findIndex((one) => clientX < one.getBoundingClientRect().right);
    const caret = Math.min(box === -1 ? this.#digits : box, this.value.length);
    this.#input.setSelectionRange(caret, caret);
    this.#draw();
  }

  #draw(): void {
    const { value } = this;
    const { selectionStart, selectionEnd } = this.#input;
    const focused = document.activeElement === this.#input;
    const start = selectionStart ?? value.length;
    const end = selectionEnd ?? start;
    this.#boxes.forEach((box, index) => {
      box.textContent = value[index] ?? '';
      const isLast = index === this.#digits - 1;
      const hasCaret = focused && start === end && (index === start || (isLast && start > index));
      box.dataset['caret'] = !hasCaret ? 'none' : start > index ? 'after' : 'before';
      box.dataset['selected'] = String(focused && index >= start && index < end);
    });
  }
}
