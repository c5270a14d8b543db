// Decides how what a call would do is shown to the human who decides: with nothing in it hidden, and bounded.

import { visible } from '../visible.ts';
import type { Arguments } from './parameter.ts';
import type { Preview } from './tool.ts';

/** A preview as a human is shown it: TEXT and LINES are bounded. */
export interface Shown extends Preview {
  lines: readonly string[];
  /** Whether TEXT is not all. */
  cut: boolean;
  /** Returns all of it, within a bound that only few have reached. */
  whole: () => string;
}

/** Returns PREVIEW as a human is shown it. */
export function shown(preview: Preview): Shown {
  const { text, lines = [text], summary } = preview;
  return {
    ...preview,
    ...(summary !== undefined && { summary: visible(summary) }),
    text: shownText(text),
    lines: shownText(lines.join('\n')).split('\n'),
    cut: text.length > SHOWN_LIMIT,
    whole: () => shownText(text, WHOLE_LIMIT),
  };
}

/** Returns the preview of a call with ARGS of a tool that has none of its own, whose approval is for FINGERPRINT. */
export function argumentsPreview(args: Arguments, fingerprint: string): Preview {
  const lines = Object.entries(args).flatMap(([name, value]) => argumentLines(name, value));
  return { text: lines.length === 0 ? 'It takes no arguments.' : lines.join('\n'), fingerprint };
}

/** Returns the lines that show VALUE as the argument NAME. Each of a text of several is marked, so that none can be taken
 *  for another argument. */
function argumentLines(name: string, value: unknown): string[] {
  if (typeof value !== 'string') return [`${name}: ${JSON.stringify(value)}`];
  const [first = '', ...more] = value.split(/\r?\n/);
  if (more.length > 0) return [`${name}: | ${first}`, ...more.map((line) => `| ${line}`)];
  return [`${name}: ${first === '' || first.trim() !== first ? JSON.stringify(first) : first}`];
}

/** Characters that a human is shown of what a call would do, in the question and in its file. */
const SHOWN_LIMIT = 8000;
const WHOLE_LIMIT = 2_000_000;
/** Characters that are left out besides, so that whole lines are shown. */
const LINE_LIMIT = 1000;

/** Returns TEXT as a human is shown it before they decide, with nothing in it hidden. Of a text longer than LIMIT it is
 *  the beginning, the end, and how much is missing between. No line is shown without its beginning, where the mark of a
 *  diff stands. */
export function shownText(text: string, limit = SHOWN_LIMIT): string {
  if (text.length <= limit) return visible(text);
  const half = limit / 2;
  const [head, tail] = [text.slice(0, half), text.slice(-half)];
  const [lastEnd, firstEnd] = [head.lastIndexOf('\n') + 1, tail.indexOf('\n') + 1];
  const first = half - lastEnd > LINE_LIMIT ? head : head.slice(0, lastEnd);
  const within = firstEnd === 0 || firstEnd > LINE_LIMIT;
  const last = within ? tail : `\n${tail.slice(firstEnd)}`;
  const hidden = text.length - first.length - last.length + (within ? 0 : 1);
  return `Too long to show whole: ${hidden} characters in the middle are left out.\n\n${visible(first)}[... ${hidden} characters are not shown ...]${visible(last)}`;
}
