// Shows held errors, with their stack frames and the variables of each frame.

import { announce, byId, element, objectIn, objectsIn, problem } from './dom.ts';
import { look } from './session.ts';

/** Loads the held errors of all images when the human asks for them. NAMES returns the names of the images; an empty
 * array when the session has one image. */
export function watchErrors(names: () => readonly string[]): void {
  byId('errors-refresh').addEventListener('click', () => void showAll(names()));
}

async function showAll(names: readonly string[]): Promise<void> {
  const images = names.length === 0 ? [{}] : names.map((image) => ({ image }));
  const found = await Promise.all(images.map((image) => heldIn(image)));
  const elements = found.flat();
  const nothing = element('p', {}, 'No error is held.');
  byId('error-list').replaceChildren(...(elements.length === 0 ? [nothing] : elements));
  const count = byId('error-list').querySelectorAll('details').length;
  announce(count === 0 ? 'No error is held.' : `Held errors: ${count}.`);
}

async function heldIn(image: object): Promise<HTMLElement[]> {
  const answer = await look('errors', image);
  if ('error' in answer) return [problem(answer.error)];
  return objectsIn(objectIn(answer.data)['held']).map((row) => errorElement(image, row));
}

function errorElement(
  image: object,
  { error, type, thread }: { readonly [name: string]: unknown },
): HTMLElement {
  const where = thread === undefined ? '' : ` in the thread ${thread}`;
  const title = element('summary', {}, element('bdi', {}, `Error ${error}: ${type}${where}`));
  return opened(title, async () => {
    const answer = await look('error', { ...image, error });
    if ('error' in answer) return [problem(answer.error)];
    const { condition } = objectIn(answer.data);
    const { text, frames, held } = objectIn(condition);
    const { frames: count } = objectIn(held);
    const titles = Array.isArray(frames) ? frames : [];
    const numbers = Array.from({ length: Number(count ?? titles.length) }, (_, index) => index);
    const known = numbers.map((frame) => frameElement({ ...image, error, frame }, titles[frame]));
    return [element('pre', {}, text === undefined ? answer.text : String(text)), ...known];
  });
}

/** Returns an element for the frame that ASKED identifies. TITLE is the entry of this frame in the list of the error's
 * frames; undefined when the list ends before it. */
function frameElement(asked: { error: unknown; frame: number }, title: unknown): HTMLElement {
  const { call } = objectIn(title);
  const text = call === undefined ? `Frame ${asked.frame}` : `${asked.frame}: ${call}`;
  return opened(element('summary', {}, element('bdi', {}, text)), async () => {
    const answer = await look('error', asked);
    return ['error' in answer ? problem(answer.error) : element('pre', {}, answer.text)];
  });
}

/** Returns an element that the human can open. LOAD returns its content when it is first opened. */
function opened(title: HTMLElement, load: () => Promise<HTMLElement[]>): HTMLElement {
  const details = element('details', {}, title);
  details.addEventListener('toggle', () => void load().then((parts) => details.append(...parts)), {
    once: true,
  });
  return details;
}
