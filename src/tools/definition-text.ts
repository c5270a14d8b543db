// Finds the lines of a file that hold a definition.

import type { Definition } from '../source/again.ts';
import { innermostDefining } from '../source/definitions.ts';
import { headNameOf } from '../source/qualified.ts';
import type { Source } from './sources.ts';

/** The source text of a definition: lines LINE to LAST_LINE (from 1) of FILE. */
export interface DefinitionText {
  file: string;
  line: number;
  lastLine: number;
  text: string;
  /** True when the file has changed since it was loaded. */
  changed: boolean;
  /** True when TEXT is from the file as loaded, because the definition is not found in the file as it is now. */
  old: boolean;
}

/** Returns the lines of SOURCE with DEFINITION, in the top-level form at index AT, plus AROUND lines on each side. */
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

/** Returns the text of a source from index START to END, with its first and last line (from 1). */
export function linesOf({ text }: Source, { start, end }: { start: number; end: number }) {
  return {
    line: text.positionAt(start).line,
    lastLine: text.positionAt(Math.max(start, end - 1)).line,
    text: text.text.slice(start, end),
  };
}
