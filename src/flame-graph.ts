// Lays out a profile as a flame graph, and writes it as an SVG document.

import { visibleLine, withIsolates } from './visible.ts';

/** A call in the call tree of samples: its depth, its function, and the number of samples in which it is. The
 *  calls that it made follow it, one level deeper. */
export type GraphFrame = readonly [depth: number, name: string, samples: number];

/** The box of a call. Widths are in pixels. */
export interface FlameBox {
  depth: number;
  x: number;
  width: number;
  /** The name of the function, with codes for hidden characters. */
  name: string;
  /** As many characters of the name as the box has room for. A name that is too long loses its package. */
  label: string;
  /** The name, and in how many samples the call is. */
  title: string;
  /** The colour of the functions of one package. */
  color: string;
}

/** Height of a box in pixels. */
export const BOX_HEIGHT = 18;
/** Size of a label's characters in pixels, and the distance of its baseline from the top of the box. */
export const LABEL = { size: 12, baseline: 13 };
/** The colour of labels. It is dark enough for all colours of boxes. */
export const LABEL_COLOR = '#1f2328';
/** Width of a character of a label in pixels, in any of the usual fonts. */
const CHARACTER_WIDTH = 7.3;
/** Maximum number of characters of a name. Codes for hidden characters can make it long. */
const NAME_LIMIT = 100;

/** The colour of functions without a package, such as foreign ones. */
const NEUTRAL = '#d8dee4';
const COLORS = ['#ffd8a8', '#ffe066', '#c0eb75', '#96f2d7', '#a5d8ff', '#d0bfff', '#fcc2d7', '#ffc9c9'];

/** Returns the boxes of the calls in FRAMES, in their order, over WIDTH pixels. SAMPLES is the number of all
 *  samples. */
export function flameBoxes(frames: readonly GraphFrame[], samples: number, width: number): FlameBox[] {
  /** By depth, the number of samples to the left of the next box. */
  const starts: number[] = [];
  return frames.map(([depth, functionName, count]) => {
    const start = starts[depth] ?? 0;
    starts[depth] = start + count;
    starts[depth + 1] = start;
    const boxWidth = (width * count) / samples;
    const whole = visibleLine(functionName);
    const name = whole.length > NAME_LIMIT ? `${beginning(whole, NAME_LIMIT)}...` : whole;
    const room = Math.floor(boxWidth / CHARACTER_WIDTH);
    const part = ((100 * count) / samples).toFixed(1);
    return {
      depth,
      x: (width * start) / samples,
      width: boxWidth,
      name,
      label: room < 3 ? '' : withIsolates(beginning(shortened(name, room), room)),
      title: `${withIsolates(name)}: ${part} %, ${count} of ${samples} samples`,
      color: colorOf(name),
    };
  });
}

/** Returns NAME, without its package when it has more than ROOM characters. */
function shortened(name: string, room: number): string {
  return name.length > room ? name.replace(/^[^\s():"]+::?(?=.)/, '') : name;
}

/** Returns the first COUNT characters of TEXT. No surrogate pair is cut. */
function beginning(text: string, count: number): string {
  return [...text].slice(0, count).join('');
}

function colorOf(name: string): string {
  const [, home] = /^[^A-Za-z]*(?:[a-zA-Z]+ )?([^\s:]+):/.exec(name) ?? [];
  if (home === undefined) return NEUTRAL;
  const sum = [...home].reduce((total, char) => (31 * total + (char.codePointAt(0) ?? 0)) % 65_521, 0);
  return COLORS[sum % COLORS.length] ?? NEUTRAL;
}

const SVG_WIDTH = 1200;
/** Height of the heading in pixels. */
const HEAD = 48;

/** Returns an SVG document with the flame graph of FRAMES, below HEADING. It needs no other file. */
export function flameDocument(heading: string, frames: readonly GraphFrame[], samples: number): string {
  const boxes = flameBoxes(frames, samples, SVG_WIDTH);
  const levels = boxes.reduce((most, { depth }) => Math.max(most, depth + 1), 0);
  const height = HEAD + levels * BOX_HEIGHT;
  const shown = escaped(withIsolates(visibleLine(heading)));
  return `<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" width="${SVG_WIDTH}" height="${height}" viewBox="0 0 ${SVG_WIDTH} ${height}" font-family="monospace" font-size="${LABEL.size}" fill="${LABEL_COLOR}">
<title>${shown}</title>
<rect width="100%" height="100%" fill="#ffffff"/>
<text x="4" y="16">${shown}</text>
<text x="4" y="34">Each box is a call, as wide as its part of the samples, with the calls that it made below it.</text>
${boxes.map(boxText).join('\n')}
</svg>
`;
}

/** An inner svg element cuts off a label that is wider than its box. */
function boxText({ depth, x, width, label, title, color }: FlameBox): string {
  const place = `x="${x.toFixed(2)}" y="${HEAD + depth * BOX_HEIGHT}" width="${width.toFixed(2)}" height="${BOX_HEIGHT}"`;
  const text = label === '' ? '' : `<text x="2" y="${LABEL.baseline}">${escaped(label)}</text>`;
  return `<svg ${place}><title>${escaped(title)}</title><rect width="100%" height="100%" fill="${color}" stroke="#ffffff"/>${text}</svg>`;
}

/** Returns TEXT, which has no control characters, as the text of an XML element. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
