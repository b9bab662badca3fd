/** The elements of index.html, found once and by type, and the few that are made later. Text is only ever textContent. */
import { texts } from '../texts/texts.ts';

export function elementById<Type extends Element>(id: string, type: new () => Type): Type {
  return elementIn(document, `#${id}`, type);
}

export function elementIn<Type extends Element>(root: ParentNode, selector: string, type: new () => Type): Type {
  const found = root.querySelector(selector);
  if (!(found instanceof type)) throw new Error(`index.html has no ${type.name} ${selector}`);
  return found;
}

export function createHtml<Tag extends keyof HTMLElementTagNameMap>(tag: Tag, className: string, text?: string) {
  const element = document.createElement(tag);
  element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

const SVG = 'http://www.w3.org/2000/svg';

export function createSvg<Tag extends keyof SVGElementTagNameMap>(
  tag: Tag,
  attributes: Readonly<Record<string, string>>,
) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

/** One of the symbols at the top of index.html. */
export function icon(name: string): SVGSVGElement {
  const svg = createSvg('svg', { class: 'icon', 'aria-hidden': 'true' });
  svg.append(createSvg('use', { href: `#icon-${name}` }));
  return svg;
}

export function setIcon(holder: Element, name: string): void {
  holder.querySelector('use')?.setAttribute('href', `#icon-${name}`);
}

/** Setting the same text again would make a screen reader read it again. */
export function setText(element: Element, words: string): void {
  if (element.textContent !== words) element.textContent = words;
}

/** Label of a button that only has an icon. */
export function setLabel(button: HTMLElement, words: string): void {
  button.ariaLabel = words;
  button.title = words;
}

/** Fills in the texts of index.html, which has none itself. */
export function fillIn(root: ParentNode): void {
  for (const element of root.querySelectorAll<HTMLElement>('[data-text]')) {
    element.textContent = textAt(element.dataset['text']);
  }
  for (const element of root.querySelectorAll<HTMLElement>('[data-label]')) {
    const words = textAt(element.dataset['label']);
    if (element instanceof HTMLButtonElement) setLabel(element, words);
    else element.ariaLabel = words;
  }
  for (const element of root.querySelectorAll<HTMLInputElement>('[data-placeholder]')) {
    element.placeholder = textAt(element.dataset['placeholder']);
  }
}

function textAt(path = ''): string {
  let at: unknown = texts;
  for (const key of path.split('.')) at = (at as Record<string, unknown>)[key]; // a wrong path ends in the error below
  if (typeof at !== 'string') throw new Error(`there is no text ${path}`);
  return at;
}
