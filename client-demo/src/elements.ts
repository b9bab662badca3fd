/** The elements of index.html, found once and by type, and the few that are made later. Text is only ever textContent. */
import { texts } from './texts.ts';

export function part<Type extends Element>(id: string, type: new () => Type): Type {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new Error(`index.html has no ${type.name} #${id}`);
  return found;
}

export function make<Tag extends keyof HTMLElementTagNameMap>(tag: Tag, className: string, text?: string) {
  const element = document.createElement(tag);
  element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

const SVG = 'http://www.w3.org/2000/svg';

/** One of the symbols at the top of index.html. */
export function icon(name: string): SVGSVGElement {
  const svg = document.createElementNS(SVG, 'svg');
  svg.classList.add('icon');
  svg.setAttribute('aria-hidden', 'true');
  const use = document.createElementNS(SVG, 'use');
  use.setAttribute('href', `#icon-${name}`);
  svg.append(use);
  return svg;
}

export function setIcon(holder: Element, name: string): void {
  holder.querySelector('use')?.setAttribute('href', `#icon-${name}`);
}

/** Fills in the words of index.html, which holds none of its own. */
export function fillIn(root: ParentNode): void {
  for (const element of root.querySelectorAll<HTMLElement>('[data-text]')) {
    element.textContent = textAt(element.dataset['text']);
  }
  for (const element of root.querySelectorAll<HTMLElement>('[data-label]')) {
    element.setAttribute('aria-label', textAt(element.dataset['label']));
  }
  for (const element of root.querySelectorAll<HTMLInputElement>('[data-placeholder]')) {
    element.placeholder = textAt(element.dataset['placeholder']);
  }
}

function textAt(path = ''): string {
  let at: unknown = texts;
  for (const key of path.split('.')) at = (at as Record<string, unknown>)[key]; // a wrong path ends in the error below
  if (typeof at !== 'string') throw new Error(`texts.ts has no text ${path}`);
  return at;
}
