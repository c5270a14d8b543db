// Creates elements of the page. Text is never interpreted as markup, and hidden characters in it are shown by their
// codes.

import { visible } from '../src/visible.ts';

type Child = Node | string | number | undefined | false;

interface Options {
  class?: string;
  /** The attributes, by name. */
  set?: { readonly [name: string]: string };
  on?: { readonly [event: string]: (event: Event) => void };
}

/** Returns a new element TAG with CHILDREN. In children that are strings, hidden characters are replaced by their
 * codes. */
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

/** Returns a new element TAG of the class NAME with TEXT, in which the server has already replaced hidden characters by
 * their codes. */
export function shownText<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  name: string,
  text: string,
): HTMLElementTagNameMap[Tag] {
  const made = element(tag, { class: name });
  made.append(text);
  return made;
}

/** Returns the element of the document that has this ID. */
export function byId(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`The page has no element ${id}.`);
  return found;
}

/** Returns a table, which scrolls when the window is narrower. The first cell of each of ROWS is the name of the
 * row. */
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

/** Returns a paragraph that shows the error message TEXT. */
export function problem(text: string): HTMLElement {
  return element('p', { class: 'problem' }, text);
}

/** Makes screen readers say TEXT. */
export function announce(text: string): void {
  byId('announcer').textContent = visible(text);
}

export function button(text: string, act: () => void, name = ''): HTMLButtonElement {
  return element('button', { class: name, set: { type: 'button' }, on: { click: act } }, text);
}

/** Returns a number of MILLISECONDS as text, such as `12 ms` or `1.5 s`. */
export function duration(milliseconds: number): string {
  return milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}

export function clock(date: Date): string {
  return date.toLocaleTimeString('sv');
}

/** Returns VALUE as an object whose members are not checked. */
export function objectIn(value: unknown): { readonly [name: string]: unknown } {
  return Object(value) as { readonly [name: string]: unknown };
}

/** Returns VALUE as an array of objects; an empty array when VALUE is not an array. */
export function objectsIn(value: unknown): { readonly [name: string]: unknown }[] {
  return Array.isArray(value) ? value.map(objectIn) : [];
}
