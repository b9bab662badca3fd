/** Switches between the views, and sets the focus. */
import { texts } from '../texts/texts.ts';
import { elementById } from './elements.ts';

const VIEWS = ['starting', 'lobby', 'call', 'ended'] as const;
type View = (typeof VIEWS)[number];

/** @param focus the element that gets the focus: a screen reader reads it first. */
export function showView(view: View, title: string | null, focus: HTMLElement | null): void {
  // A dialog belongs to the view that opened it.
  for (const dialog of document.querySelectorAll('dialog')) dialog.close();
  for (const name of VIEWS) elementById(name, HTMLElement).hidden = name !== view;
  showTitle(title);
  focus?.focus();
}

export function showTitle(title: string | null): void {
  document.title = title === null ? texts.title : `${title} · ${texts.title}`;
}

export interface Ending {
  readonly heading: string;
  readonly lead: string;
  readonly way: { readonly label: string; run(): void };
}

/** The reason of the end, and the next step. */
export function showEnd({ heading, lead, way }: Ending): void {
  const title = elementById('ended-heading', HTMLElement);
  const button = elementById('ended-home', HTMLButtonElement);
  title.textContent = heading;
  elementById('ended-lead', HTMLElement).textContent = lead;
  button.textContent = way.label;
  button.onclick = () => way.run();
  showView('ended', heading, title);
}
