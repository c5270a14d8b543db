// Shows a definition, its text and its callers. A click on a name in the text shows the definition of this name.

import { button, byId, element, objectIn, objectsIn, problem } from './dom.ts';
import { type Look, look } from './session.ts';

/** Shows a definition when the human enters a name. */
export function watchLookup(): void {
  byId('lookup').addEventListener('submit', (event) => {
    event.preventDefault();
    void show((byId('lookup-name') as HTMLInputElement).value.trim());
  });
}

/** Lets the human choose one of the images NAMES. If NAMES is empty, the session has one image, and the choice is
 * hidden. */
export function offerImages(names: readonly string[]): void {
  byId('lookup-image').replaceChildren(
    ...names.map((name) => element('option', { set: { value: name } }, name)),
  );
  byId('lookup-where').hidden = names.length === 0;
}

/** Shows the definition of NAME, read in the package HOME unless NAME has a package prefix. */
async function show(name: string, home?: string): Promise<void> {
  if (name === '') return;
  (byId('lookup-name') as HTMLInputElement).value = name;
  const image = (byId('lookup-image') as HTMLSelectElement).value;
  const asked = {
    name,
    ...(home !== undefined && !name.includes(':') && { package: home }),
    ...(image !== '' && { image }),
  };
  byId('definition-text').replaceChildren(element('p', {}, 'The image is asked …'));
  const [definition, callers] = await Promise.all([look('definition', asked), look('callers', asked)]);
  byId('definition-text').replaceChildren(...definitionElements(definition), callersElement(callers));
  byId('definition-title').focus();
}

function definitionElements(answer: Look): HTMLElement[] {
  if ('error' in answer) return [problem(answer.error)];
  const definitions = objectsIn(answer.data).flatMap(({ definitions: found }) => objectsIn(found));
  if (definitions.length === 0) return [element('pre', {}, answer.text)];
  return definitions.map(({ name, kind, at, note, text }) => {
    const [home] = String(name).split(':', 1);
    return element(
      'article',
      {},
      element('h3', {}, element('bdi', {}, `${kind ?? ''} ${name ?? ''}`)),
      at !== undefined && element('p', {}, element('bdi', {}, String(at))),
      note !== undefined && element('p', {}, String(note)),
      text === undefined ? element('p', {}, 'Its text is not known.') : codeElement(String(text), home),
    );
  });
}

/** Returns the Lisp text CODE as an element. Names after a parenthesis or `#'` are buttons. */
function codeElement(code: string, home: string | undefined): HTMLElement {
  const made = element('pre', { class: 'code' });
  let end = 0;
  for (const { index, 0: whole, groups } of code.matchAll(CALLED)) {
    const name = groups?.['name'] ?? '';
    const from = index + whole.length - name.length;
    const before = element('span', {}, code.slice(end, from));
    made.append(
      before,
      button(name, () => void show(name, home), 'name'),
    );
    end = from + name.length;
  }
  made.append(element('span', {}, code.slice(end)));
  return made;
}

const CALLED = /(?:\(|#')(?<name>[a-z%*+][^\s()'"`,;#|\\]*)/giu;

/** Returns a button that shows the definition of NAME. If NAME is not a symbol with its package, returns NAME as
 * text. */
export function nameElement(name: string): HTMLElement {
  const isName = /^[^\s()]+::?[^\s()]+$/.test(name);
  return isName ? button(name, () => void show(name), 'name') : element('bdi', {}, name);
}

function callersElement(answer: Look): HTMLElement {
  const title = element('h3', {}, 'Callers');
  if ('error' in answer) return element('article', {}, title, problem(answer.error));
  const rows = objectsIn(objectIn(answer.data)['rows']);
  const items = rows.map(({ name, kind, outside }) => {
    const text = String(name);
    const shown = outside === true ? element('bdi', {}, text) : nameElement(text);
    return element('li', {}, shown, kind === undefined ? '' : ` ${kind}`);
  });
  const list = items.length === 0 ? element('p', {}, 'No function calls it.') : element('ul', {}, ...items);
  return element('article', {}, title, list);
}
