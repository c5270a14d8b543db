// Renders the preview of a call for a human: shows hidden characters, and limits the length.

import { marked, type QuestionLine, questionLine } from '../question-line.ts';
import { visible } from '../visible.ts';
import type { Arguments } from './parameter.ts';
import type { Preview } from './tool.ts';

export interface RenderedPreview extends Omit<Preview, 'summary' | 'text'> {
  summary?: QuestionLine;
  /** A text on the effect of the call. The middle of a long text is left out. */
  text: string;
  /** The lines to show first, as many as the client has room for. */
  lines: readonly QuestionLine[];
  /** Returns the whole text, up to a limit that few previews reach. */
  whole: () => string;
}

/** Renders PREVIEW for a human. */
export function renderPreview({ summary, lines, ...preview }: Preview): RenderedPreview {
  const { text } = preview;
  const fullText = typeof text === 'string' ? visible(text) : text.join('\n');
  return {
    ...preview,
    ...(summary !== undefined && { summary: questionLine`${summary}` }),
    text: boundedPreview(fullText),
    lines: lines ?? previewLines(text),
    whole: () => boundedPreview(fullText, FILE_LIMIT),
  };
}

/** Returns TEXT, the text of a preview, as lines to show. */
export function previewLines(text: Preview['text']): readonly QuestionLine[] {
  return typeof text === 'string' ? text.split('\n').map((line) => marked('|', ` ${line}`)) : text;
}

/** Returns the preview of a call with ARGS and FINGERPRINT, for a tool that has none of its own. */
export function argumentsPreview(args: Arguments, fingerprint: string): Preview {
  const lines = argumentsLines(args);
  return { text: lines.length === 0 ? [questionLine`It takes no arguments.`] : lines, fingerprint };
}

/** Returns the arguments ARGS of a call as lines to show to a human. */
export function argumentsLines(args: Arguments): QuestionLine[] {
  return Object.entries(args).flatMap(([name, value]) => argumentLines(name, value));
}

/** Returns the lines that show VALUE as the argument NAME. Marks further lines of VALUE, so that they cannot
 *  be mistaken for the beginning of another argument. */
function argumentLines(name: string, value: unknown): QuestionLine[] {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const [first = '', ...more] = text.split(/\r?\n/);
  const blank = more.length === 0 && (first === '' || first.trim() !== first);
  return [
    questionLine`> ${name}:${marked(' ', blank ? JSON.stringify(first) : first)}`,
    ...more.map((line) => marked('|', ` ${line}`)),
  ];
}

/** Maximum number of characters of a preview shown in the question. */
const SHOWN_LIMIT = 8000;
/** Maximum number of characters of a preview shown in a file. */
const FILE_LIMIT = 2_000_000;
/** Up to this many further characters are left out so that the cut comes between two lines. */
const LINE_LIMIT = 1000;

/** Returns TEXT. If it is longer than LIMIT, returns its beginning and its end, and says how much is left
 *  out. Lines are not cut at their beginning, where the mark of a diff stands, unless they are very long. */
export function boundedPreview(text: string, limit = SHOWN_LIMIT): string {
  if (text.length <= limit) return text;
  const half = limit / 2;
  const [head, tail] = [text.slice(0, half), text.slice(-half)];
  const [lastEnd, firstEnd] = [head.lastIndexOf('\n') + 1, tail.indexOf('\n') + 1];
  const first = half - lastEnd > LINE_LIMIT ? head : head.slice(0, lastEnd);
  const within = firstEnd === 0 || firstEnd > LINE_LIMIT;
  const last = within ? tail : `\n${tail.slice(firstEnd)}`;
  const hidden = text.length - first.length - last.length + (within ? 0 : 1);
  return `Too long to show whole: ${hidden} characters in the middle are left out.\n\n${first}[... ${hidden} characters are not shown ...]${last}`;
}
