// Makes elements of the page. Text never becomes markup, and hidden characters of it are shown by their codes.

import { visible } from '../src/visible.ts';

type Child = Node | string | number | undefined | false;

interface Options {
  class?: string;
  /** Attributes by their names. */
  set?: { readonly [name: string]: string };
  on?: { readonly [event: string]: (event: Event) => void };
}

/** Returns a new element TAG with CHILDREN. A string is a text from outside. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  { class: name, set = {}, on = {} }: Options,
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  if (name !== undefined) made.className = name;
  for (const [key, value] of Object.entries(set)) made.setAttribute(key, value);
  for (const [event, listener] of Object.entries(on)) made.addEventListener(event, listener);
  for (const child of children)
    if (child !== undefined && child !== false)
      made.append(child instanceof Node ? child : visible(String(child)));
  return made;
}

/** Returns an element with TEXT of the server, in which hidden characters are shown by their codes already. */
export function shownText<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  name: string,
  text: string,
): HTMLElementTagNameMap[Tag] {
  const made = element(tag, { class: name });
  made.append(text);
  return made;
}

/** Returns the element with ID, which is in the document. */
export function byId(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`The page has no element ${id}.`);
  return found;
}

/** Returns a table, which scrolls where the window is narrower. The first cell of each of ROWS is the name of the row. */
export function table(
  caption: string,
  head: readonly string[],
  rows: readonly (readonly Child[])[],
): HTMLElement {
  const names = head.map((each) => element('th', { set: { scope: 'col' } }, each));
  const body = rows.map(([name, ...cells]) =>
    element(
      'tr',
      {},
      element('th', { set: { scope: 'row' } }, name),
      ...cells.map((cell) => element('td', {}, cell)),
    ),
  );
  const made = element(
    'table',
    {},
    element('caption', {}, caption),
    element('thead', {}, element('tr', {}, ...names)),
    element('tbody', {}, ...body),
  );
  return element(
    'div',
    { class: 'wide', set: { tabindex: '0', role: 'group', 'aria-label': caption } },
    made,
  );
}

/** Has screen readers say TEXT. */
export function announce(text: string): void {
  byId('announcer').textContent = visible(text);
}

export function button(text: string, act: () => void, name = ''): HTMLButtonElement {
  return element('button', { class: name, set: { type: 'button' }, on: { click: act } }, text);
}

/** Returns MILLISECONDS as a text such as `12 ms` or `1.5 s`. */
export function duration(milliseconds: number): string {
  return milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}

export function clock(date: Date): string {
  return date.toLocaleTimeString('sv');
}

/** Returns an unchecked VALUE as an object. */
export function objectIn(value: unknown): { readonly [name: string]: unknown } {
  return Object(value) as { readonly [name: string]: unknown };
}

/** Returns an unchecked VALUE as an array of objects. */
export function objectsIn(value: unknown): { readonly [name: string]: unknown }[] {
  return Array.isArray(value) ? value.map(objectIn) : [];
}
