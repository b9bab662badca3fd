/** Which of the views is on the screen. */
import { part } from './elements.ts';
import { texts } from './texts.ts';

const VIEWS = ['starting', 'lobby', 'call', 'ended'] as const;
export type View = (typeof VIEWS)[number];

export function showView(view: View, title?: string): void {
  for (const name of VIEWS) part(name, HTMLElement).hidden = name !== view;
  document.title = title === undefined ? texts.title : `${title} · ${texts.title}`;
}

/** Why it is over, and the one way on. */
export function showEnd(heading: string, lead: string, home: () => void): void {
  const title = part('ended-heading', HTMLElement);
  title.textContent = heading;
  part('ended-lead', HTMLElement).textContent = lead;
  part('ended-home', HTMLButtonElement).onclick = home;
  showView('ended', heading);
  title.focus();
}
