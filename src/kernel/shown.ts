// Renders the preview of a call for a human: shows hidden characters, and limits the length.

import { marked, type QuestionLine, questionLine } from '../question-line.ts';
import { visible } from '../visible.ts';
import type { Arguments } from './parameter.ts';
import type { Preview } from './tool.ts';

export interface RenderedPreview extends Omit<Preview, 'summary' | 'text'> {
  summary?: QuestionLine;
  /** Says what the call would do. The middle of a long text is left out. */
  text: string;
  /** The most important lines, for a client with little space. */
  lines: readonly QuestionLine[];
  /** Returns the complete text. Its limit is very high. */
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

/** Returns TEXT of a preview as lines. */
export function previewLines(text: Preview['text']): readonly QuestionLine[] {
  return typeof text === 'string' ? text.split('\n').map((line) => marked('|', ` ${line}`)) : text;
}

/** Returns a preview that shows ARGS and has this FINGERPRINT, for a tool without a preview of its own. */
export function argumentsPreview(args: Arguments, fingerprint: string): Preview {
  const lines = argumentsLines(args);
  return { text: lines.length === 0 ? [questionLine`It takes no arguments.`] : lines, fingerprint };
}

/** Returns ARGS of a call as lines for a human. */
export function argumentsLines(args: Arguments): QuestionLine[] {
  return Object.entries(args).flatMap(([name, value]) => argumentLines(name, value));
}

/** Returns the lines that show VALUE as the argument NAME. A mark precedes each further line of VALUE, so that it
 * cannot look like another argument. */
function argumentLines(name: string, value: unknown): QuestionLine[] {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const [first = '', ...more] = text.split(/\r?\n/);
  const blank = more.length === 0 && (first === '' || first.trim() !== first);
  return [
    questionLine`> ${name}:${marked(' ', blank ? JSON.stringify(first) : first)}`,
    ...more.map((line) => marked('|', ` ${line}`)),
  ];
}

/** Maximum number of characters of a preview in the question. */
const SHOWN_LIMIT = 8000;
const FILE_LIMIT = 2_000_000;
/** Maximum number of further characters that are left out so that a cut is between two lines. */
const LINE_LIMIT = 1000;

/** Returns TEXT. If it is longer than LIMIT, its middle is replaced by a note about the rest. A cut is between two
 * lines if possible, because the beginning of a line is the mark of the diff. */
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
