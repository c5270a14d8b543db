// Decides how what a call would do is shown to the human who decides: with nothing in it hidden, and bounded.

import { visible } from '../visible.ts';
import type { Arguments } from './parameter.ts';
import type { Preview } from './tool.ts';

/** A preview as a human is shown it: TEXT and LINES are bounded, WHOLE is all of it. */
export interface Shown extends Preview {
  lines: readonly string[];
  whole: string;
  /** Whether TEXT is not all. */
  cut: boolean;
}

/** Returns PREVIEW as a human is shown it. */
export function shown(preview: Preview): Shown {
  const whole = visible(preview.text);
  const text = shownText(preview.text);
  const lines = shownText((preview.lines ?? [preview.text]).join('\n')).split('\n');
  const summary = preview.summary === undefined ? {} : { summary: visible(preview.summary) };
  return { ...preview, ...summary, text, lines, whole, cut: text !== whole };
}

/** Returns the preview of a call with ARGS of a tool that has none of its own, whose approval is for FINGERPRINT. */
export function argumentsPreview(args: Arguments, fingerprint: string): Preview {
  const lines = Object.entries(args).flatMap(([name, value]) => argumentLines(name, value));
  return { text: lines.length === 0 ? 'It takes no arguments.' : lines.join('\n'), fingerprint };
}

/** Returns the lines that show VALUE as the argument NAME. Each of a text of several is marked, so that none can be taken
 *  for another argument. */
function argumentLines(name: string, value: unknown): string[] {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const lines = text.split(/\r?\n/);
  if (typeof value === 'string' && (lines.length > 1 || text.trim() !== text || text === '')) {
    return lines.length > 1
      ? [`${name}:`, ...lines.map((line) => `| ${line}`)]
      : [`${name}: ${JSON.stringify(text)}`];
  }
  return [`${name}: ${text}`];
}

/** Characters that a human is shown of what a call would do. */
const SHOWN_LIMIT = 8000;
/** Characters that are left out besides, so that whole lines are shown. */
const LINE_LIMIT = 1000;

/** Returns TEXT as a human is shown it before they decide, with nothing in it hidden. Of a long text it is the
 *  beginning, the end, and how much is missing between. No line is shown without its beginning, where the mark of a diff stands. */
export function shownText(text: string): string {
  if (text.length <= SHOWN_LIMIT) return visible(text);
  const half = SHOWN_LIMIT / 2;
  const [head, tail] = [text.slice(0, half), text.slice(-half)];
  const [lastEnd, firstEnd] = [head.lastIndexOf('\n') + 1, tail.indexOf('\n') + 1];
  const first = half - lastEnd > LINE_LIMIT ? head : head.slice(0, lastEnd);
  const within = firstEnd === 0 || firstEnd > LINE_LIMIT;
  const last = within ? tail : `\n${tail.slice(firstEnd)}`;
  const hidden = text.length - first.length - last.length + (within ? 0 : 1);
  return `Too long to show whole: ${hidden} characters in the middle are left out.\n\n${visible(first)}[... ${hidden} characters are not shown ...]${visible(last)}`;
}
