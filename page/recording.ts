// Shows the last calls that the session recorded, as a tree.

import { element } from './dom.ts';
import { watchObserved } from './observed.ts';

interface Recording {
  heading: string;
  time: string;
  calls: { depth: number; text: string }[];
}

const NONE = 'This session has recorded no calls. The tool observe records those of its functions.';

/** Shows the last recorded calls when the human asks for them. */
export function watchRecording(): void {
  watchObserved('recording', NONE, ({ calls: recording }: { calls?: Recording }) => {
    if (recording === undefined) return undefined;
    const heading = `${recording.heading}, ${new Date(recording.time).toLocaleString('sv')}`;
    return { heading, elements: [element('h3', {}, heading), treeElement(recording.calls)] };
  });
}

/** Returns CALLS as nested lists. The human can fold a call that made other calls. */
function treeElement(calls: Recording['calls']): HTMLElement {
  const root = element('ul', { class: 'tree', set: { tabindex: '0', 'aria-label': 'Recorded calls' } });
  /** For each depth: the list to which the next call of this depth is added. */
  const lists = [root];
  for (const [index, { depth, text }] of calls.entries()) {
    // The recording may lack the callers of its first calls. Such a call goes into the innermost list that exists.
    const level = Math.min(depth, lists.length - 1);
    const call = element('bdi', {}, text);
    const isCaller = (calls[index + 1]?.depth ?? 0) > depth;
    const inner = element('ul', {});
    const shown = isCaller
      ? element('details', { set: { open: '' } }, element('summary', {}, call), inner)
      : call;
    lists[level]?.append(element('li', {}, shown));
    lists.splice(level + 1, lists.length, ...(isCaller ? [inner] : []));
  }
  return root;
}
