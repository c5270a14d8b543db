// Converts a profile to a flame graph, and writes the graph as an SVG document.

import { visibleLine, withIsolates } from './visible.ts';

/** A call in the call tree of a profile: its depth, the name of its function, and the number of samples that contain
 * it. The calls that it made directly follow it, with a depth greater by one. */
export type GraphFrame = readonly [depth: number, name: string, samples: number];

/** The box of a call in the graph. Widths are in pixels. */
export interface FlameBox {
  depth: number;
  x: number;
  width: number;
  /** The name of the function. Hidden characters are replaced by their codes. */
  name: string;
  /** As much of the name as fits into the box. If the name is too long, its package is left out first. */
  label: string;
  /** The name, and the number of samples that contain the call. */
  title: string;
  /** The colour for all functions of one package. */
  color: string;
}

/** Height of a box in pixels. */
export const BOX_HEIGHT = 18;
/** Font size of a label in pixels, and the distance of its baseline from the top of the box. */
export const LABEL = { size: 12, baseline: 13 };
/** The colour of labels. It is dark enough to be read on each colour of boxes. */
export const LABEL_COLOR = '#1f2328';
/** Maximum width in pixels of a character of a label, in the usual fonts. */
const CHARACTER_WIDTH = 7.3;
/** Maximum number of characters of a name. The codes for hidden characters can make a name long. */
const NAME_LIMIT = 100;

/** The colour for functions without a package, such as foreign functions. */
const NEUTRAL = '#d8dee4';
const COLORS = ['#ffd8a8', '#ffe066', '#c0eb75', '#96f2d7', '#a5d8ff', '#d0bfff', '#fcc2d7', '#ffc9c9'];

/** Returns the boxes for the calls in FRAMES, in the same order, in a graph of WIDTH pixels. SAMPLES is the total
 * number of samples. */
export function flameBoxes(frames: readonly GraphFrame[], samples: number, width: number): FlameBox[] {
  /** Indexed by depth: the number of samples to the left of the next box. */
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

/** Returns NAME. If it has more than ROOM characters, returns it without its package. */
function shortened(name: string, room: number): string {
  return name.length > room ? name.replace(/^[^\s():"]+::?(?=.)/, '') : name;
}

/** Returns the first COUNT characters of TEXT. Surrogate pairs stay together. */
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
/** Height, in pixels, of the heading of a document. */
const HEAD_HEIGHT = 48;

/** Returns an SVG document with HEADING and the flame graph of FRAMES. SAMPLES is the total number of samples. The
 * document uses no other file. */
export function flameDocument(heading: string, frames: readonly GraphFrame[], samples: number): string {
  const boxes = flameBoxes(frames, samples, SVG_WIDTH);
  const levels = boxes.reduce((most, { depth }) => Math.max(most, depth + 1), 0);
  const height = HEAD_HEIGHT + levels * BOX_HEIGHT;
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

/** Returns the SVG for a box: an inner svg element, which clips a label that is too wide. */
function boxText({ depth, x, width, label, title, color }: FlameBox): string {
  const place = `x="${x.toFixed(2)}" y="${HEAD_HEIGHT + depth * BOX_HEIGHT}" width="${width.toFixed(2)}" height="${BOX_HEIGHT}"`;
  const text = label === '' ? '' : `<text x="2" y="${LABEL.baseline}">${escaped(label)}</text>`;
  return `<svg ${place}><title>${escaped(title)}</title><rect width="100%" height="100%" fill="${color}" stroke="#ffffff"/>${text}</svg>`;
}

/** Returns TEXT in a form that can be in an XML element. TEXT must not contain control characters. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
