/**
 * One text input, drawn as a box for every digit. The boxes only show the value of the input, so phone keyboards, input
 * methods, autofill, undo and screen readers work as in any input.
 */
import { codeIn, digitsIn, groupLength } from '../base/code.ts';
import { createHtml } from '../base/elements.ts';

export class CodeField {
  readonly #input: HTMLInputElement;
  readonly #frame: HTMLElement;
  readonly #edited: (hadLetters: boolean) => void;
  #boxes: readonly HTMLElement[] = [];
  #digits = 0;

  /** @param edited called after every change by the user. `hadLetters`: letters were typed, and removed */
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

  /** Number of digits in a code of this server. */
  set digits(digits: number) {
    if (digits === this.#digits) return;
    this.#digits = digits;
    this.#boxes = Array.from({ length: digits }, () => createHtml('span', 'code-box'));
    this.#boxes[groupLength(digits)]?.classList.add('second-group');
    this.#frame.replaceChildren(...this.#boxes);
    this.#draw();
  }

  /** The typed digits, as 0 to 9. */
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
    // Unfinished text of an input method must not be changed.
    const hadLetters = !composing && this.#tidy();
    this.#draw();
    this.#edited(hadLetters);
  }

  /**
   * Removes all but the digits, and limits their number: in a full field, a typed digit overwrites the next one.
   *
   * @returns whether letters were removed.
   */
  #tidy(): boolean {
    const { value, selectionStart } = this.#input;
    const caret = selectionStart ?? value.length;
    const whole = /\D/.test(value) ? codeIn(value, this.#digits) : undefined;
    const before = whole ?? digitsIn(value.slice(0, caret));
    const after = whole === undefined ? digitsIn(value.slice(caret)) : '';
    const tooMany = Math.max(0, before.length + after.length - this.#digits);
    const tidy = `${before}${after.slice(tooMany)}`.slice(0, this.#digits);
    // Only on a change: setting the value clears the browser's undo history.
    if (tidy === value) return false;
    this.#input.value = tidy;
    const end = Math.min(before.length, this.#digits);
    this.#input.setSelectionRange(end, end);
    return whole === undefined && /\p{Letter}/u.test(value);
  }

  /** A pasted code replaces the value; any other text is inserted at the caret by the browser. */
  #pasted(event: ClipboardEvent): void {
    const code = codeIn(event.clipboardData?.getData('text') ?? '', this.#digits);
    if (code === undefined) return;
    event.preventDefault();
    this.value = code;
    this.#edited(false);
  }

  /** Moves the caret to the clicked box: the hidden text is narrower than the boxes, so the browser would misplace it. */
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
