// Shows the last profile of the session as a flame graph and as a table.

import {
  BOX_HEIGHT,
  type FlameBox,
  flameBoxes,
  type GraphFrame,
  LABEL,
  LABEL_COLOR,
} from '../src/flame-graph.ts';
import { nameElement } from './definitions.ts';
import { byId, element, table } from './dom.ts';
import { watchObserved } from './observed.ts';

interface Profile {
  /** The quantity that the samples measure, such as `CPU time`. */
  what: string;
  time: string;
  samples: number;
  frames: GraphFrame[];
  functions: { name: string; self: number; total: number; caller?: string }[];
}

/** The minimum width of the graph. In a narrower window, the graph scrolls. */
const LEAST_WIDTH = 600;

/** Shows the last profile when the human asks for it. */
export function watchProfile(): void {
  watchObserved('profile', NONE, ({ profile }: { profile?: Profile }) => {
    if (profile === undefined) return undefined;
    const { what, samples, time } = profile;
    const heading = `${what}, ${samples} samples, ${new Date(time).toLocaleString('sv')}`;
    const title = [element('h3', {}, heading), element('p', {}, LEGEND)];
    return { heading, elements: [...title, ...graphElements(profile), tableElement(profile)] };
  });
}

const NONE = 'This session has taken no profile. The tool observe takes one.';
const LEGEND =
  'Each box is a call, as wide as its part of the samples, with the calls that it made below it. The functions of one package have one colour. Click a box, or use the arrow keys, to see its part.';

/** Returns the flame graph, and a line of text about the selected call. Arrow keys select a call. */
function graphElements({ frames, samples }: Profile): HTMLElement[] {
  const line = element('p', { class: 'selected', set: { role: 'status' } }, 'No call is selected.');
  const graph = element('div', {
    class: 'flame',
    set: {
      tabindex: '0',
      role: 'group',
      'aria-label': 'Flame graph. Arrow keys select a call, and the table below lists functions.',
    },
  });
  const width = Math.max(LEAST_WIDTH, byId('profile-text').clientWidth);
  const boxes = flameBoxes(frames, samples, width);
  const levels = boxes.reduce((most, { depth }) => Math.max(most, depth + 1), 0);
  const height = String(levels * BOX_HEIGHT);
  const drawing = drawn('svg', {
    width: String(width),
    height,
    'font-family': 'monospace',
    'font-size': String(LABEL.size),
    'aria-hidden': 'true',
  });
  const drawings = boxes.map(boxElement);
  drawing.append(...drawings);
  let selected: number | undefined;
  const select = (index: number) => {
    if (selected !== undefined) drawings[selected]?.classList.remove('selected');
    selected = index;
    drawings[index]?.classList.add('selected');
    drawings[index]?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    line.textContent = boxes[index]?.title ?? '';
  };
  for (const [index, each] of drawings.entries()) each.addEventListener('click', () => select(index));
  graph.addEventListener('keydown', (event) => {
    if (!event.key.startsWith('Arrow')) return;
    event.preventDefault();
    select(selected === undefined ? 0 : (nextBox(boxes, selected, event.key) ?? selected));
  });
  graph.append(drawing);
  return [graph, line];
}

/** Returns the index of the box to which the arrow key KEY leads from the box at INDEX: its caller, the first call that
 * it made, or the box beside it. Returns undefined when there is no such box. */
function nextBox(boxes: readonly FlameBox[], index: number, key: string): number | undefined {
  const depth = boxes[index]?.depth ?? 0;
  const indexes = [...boxes.keys()];
  const at = (wanted: number) => (each: number) => boxes[each]?.depth === wanted;
  if (key === 'ArrowDown') return boxes[index + 1]?.depth === depth + 1 ? index + 1 : undefined;
  if (key === 'ArrowUp') return indexes.slice(0, index).findLast(at(depth - 1));
  if (key === 'ArrowLeft') return indexes.slice(0, index).findLast(at(depth));
  return indexes.slice(index + 1).find(at(depth));
}

/** Each box is an inner svg element, which cuts off a label that is too wide. */
function boxElement({ depth, x, width, label, title, color }: FlameBox): SVGElement {
  const set = {
    x: String(x),
    y: String(depth * BOX_HEIGHT),
    width: String(width),
    height: String(BOX_HEIGHT),
  };
  const made = drawn('svg', set);
  const name = drawn('title', {});
  name.textContent = title;
  const text = drawn('text', { x: '2', y: String(LABEL.baseline), fill: LABEL_COLOR });
  text.textContent = label;
  made.append(name, drawn('rect', { width: '100%', height: '100%', fill: color }), text);
  return made;
}

function drawn(tag: string, set: { readonly [name: string]: string }): SVGElement {
  const made = document.createElementNS('http://www.w3.org/2000/svg', tag) as SVGElement;
  for (const [key, value] of Object.entries(set)) made.setAttribute(key, value);
  return made;
}

function tableElement({ functions }: Profile): HTMLElement {
  const rows = functions.map(({ name, self, total, caller }) => [
    nameElement(name),
    `${self.toFixed(1)} %`,
    `${total.toFixed(1)} %`,
    caller === undefined ? '' : nameElement(caller),
  ]);
  const head = ['Function', 'By itself', 'With its calls', 'Most frequent caller'];
  return table('Functions with the most samples', head, rows);
}
