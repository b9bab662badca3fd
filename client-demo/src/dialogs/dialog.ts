/** A modal dialog. The browser keeps the focus in it, closes it on Escape, and restores the focus. */
export class Dialog {
  readonly #element: HTMLDialogElement;

  constructor(element: HTMLDialogElement) {
    this.#element = element;
    for (const button of element.querySelectorAll('[data-close]')) button.addEventListener('click', () => this.close());
    // The content covers the dialog, so a click on the dialog itself is a click on the backdrop.
    element.addEventListener('click', ({ target }) => target === element && this.close());
  }

  /** Resolves when it is closed again. */
  open(): Promise<void> {
    if (!this.#element.open) this.#element.showModal();
    return new Promise((resolve) => this.#element.addEventListener('close', () => resolve(), { once: true }));
  }

  close(): void {
    this.#element.close();
  }
}
