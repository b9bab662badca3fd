/** A dialog over the page. The browser keeps the focus in it, closes it on Escape, and gives the focus back. */
export class Dialog {
  readonly #element: HTMLDialogElement;

  constructor(element: HTMLDialogElement) {
    this.#element = element;
    for (const button of element.querySelectorAll('[data-close]')) button.addEventListener('click', () => this.close());
    // The dialog's content covers all of it, so a click on itself is one on the backdrop.
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
