// Decides which lines of a file are the text of a definition.

import type { Definition } from '../source/again.ts';
import { innermostDefining } from '../source/definitions.ts';
import { headNameOf } from '../source/qualified.ts';
import type { Source } from './sources.ts';

/** The text of a definition: its lines of FILE. */
export interface DefinitionText {
  file: string;
  line: number;
  lastLine: number;
  text: string;
  /** The file has changed since it was loaded. */
  changed: boolean;
  /** The text is that of the file as it was loaded, since the definition is not found in it now. */
  old: boolean;
}

/** Returns the lines of SOURCE that have the definition DEFINITION in the form at AT, and AROUND lines around them. */
export function excerpt(source: Source, at: number, { name }: Definition, around: number) {
  const { text } = source.text;
  const found = innermostDefining(source.forms(), at, headNameOf(name)) ?? { start: at, end: text.length };
  let [start, end] = [found.start, found.end];
  for (let n = 0; n < around; n++) {
    start = text.lastIndexOf('\n', text.lastIndexOf('\n', start - 1) - 1) + 1;
    const next = text.indexOf('\n', end + 1);
    end = next === -1 ? text.length : next;
  }
  return linesOf(source, { start, end });
}

/** Returns the lines of a source that have its text from START to END. */
export function linesOf({ text }: Source, { start, end }: { start: number; end: number }) {
  return {
    line: text.positionAt(start).line,
    lastLine: text.positionAt(Math.max(start, end - 1)).line,
    text: text.text.slice(start, end),
  };
}
