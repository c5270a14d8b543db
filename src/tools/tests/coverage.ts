// Renders the coverage of a test run: the definitions and lines that never ran.

import type { CoverageData, MeasuredDefinition } from '../../image/wire/operations.ts';
import { cutText, fewOf, fittingRows } from '../../kernel/reply.ts';
import { commonPrefix } from '../../source/qualified.ts';
import type { SourceText } from '../../source/text.ts';
import type { Span } from '../../source/tree.ts';
import type { Places } from '../places.ts';
import type { Recorded } from './reached.ts';

/** Maximum number of lines shown of a definition, and of test names in a list. */
const ITEM_LIMIT = 12;

/** Maximum number of characters that are shown of an expression that never ran and begins in the middle of a line. */
const PART_LIMIT = 40;

/** A definition whose coverage was measured. `at` is its place. `never` has its lines that never ran. */
export interface Covered {
  name: string;
  at: string;
  reached: boolean;
  never: string[];
}

/** The coverage of a run. `missed` is the number of definitions that could not be measured. */
export interface Coverage {
  measured: Covered[];
  missed: number;
}

/** Returns the coverage of a run from the coverage of its ROUNDS (see run.ts). Code is covered when it ran in at least
 * one round. */
export function mergedCoverage(rounds: readonly CoverageData[]): CoverageData {
  const merged = new Map<string, MeasuredDefinition>();
  for (const { definitions = [] } of rounds) {
    const counts = new Map<string, number>();
    for (const definition of definitions) {
      const { name, file, form } = definition;
      // A form can have several definitions of one name. They are distinguished by their order.
      const place = `${file} ${form} ${name}`;
      const count = (counts.get(place) ?? 0) + 1;
      counts.set(place, count);
      const key = `${place} ${count}`;
      const before = merged.get(key);
      merged.set(key, before ? neverInBoth(before, definition) : definition);
    }
  }
  return {
    definitions: [...merged.values()],
    // Each round counts all definitions of the loaded files, so the counts must not be added.
    missed: Math.max(0, ...rounds.map(({ missed = 0 }) => missed)),
  };
}

/** Returns the coverage of a definition in two rounds. `never` has the parts that ran in neither round. A definition
 * that a round did not reach has no `never` there. */
function neverInBoth(one: MeasuredDefinition, other: MeasuredDefinition): MeasuredDefinition {
  if (!one.reached) return other;
  if (!other.reached) return one;
  const never = new Set(other.never?.map((place) => place.join()));
  return { ...one, never: one.never?.filter((place) => never.has(place.join())) ?? [] };
}

/** Returns the coverage, with its places and lines as text. */
export function coverageOf({ definitions = [], missed = 0 }: CoverageData, places: Places): Coverage {
  const measured = definitions.map(({ name, reached = false, never = [], ...place }) => {
    const source = places.sourceText(place.file);
    // `start` is undefined when the place of the part is unknown. `before` is set only for an atom (see PartPlace).
    const spans = never.map(([start, end, before]) =>
      start === undefined ? undefined : places.span({ ...place, start, end }, before),
    );
    const known = spans.filter((span) => span !== undefined);
    const lines = source && reached ? linesOf(source, outermost(known)) : [];
    // A part has no span when its place is unknown, or when its form has changed since the image loaded it.
    const lost = reached ? spans.length - known.length : 0;
    return {
      name,
      // FILE:LINE without the column.
      at: places.site(place).at.replace(/:\d+$/, ''),
      reached,
      never: lost > 0 ? [...lines, `${lost} ${lost === 1 ? 'part' : 'parts'} of it as it was loaded`] : lines,
    };
  });
  return { measured, missed };
}

/** Returns SPANS, sorted by start, without those that are inside others. */
function outermost(spans: readonly Span[]): Span[] {
  const sorted = [...spans].sort((one, other) => one.start - other.start || other.end - one.end);
  let end = 0;
  return sorted.filter((span) => {
    if (span.start < end) return false;
    end = span.end;
    return true;
  });
}

/** Returns the definitions whose coverage was measured, each with the current text of its top-level form. */
export function recordedOf({ definitions = [] }: CoverageData, places: Places): Recorded[] {
  return definitions.map(({ name, file, form }) => {
    const forms = places.forms(file);
    const { start = 0, end = 0 } = forms?.nthExtent(form) ?? {};
    return { name, file, text: forms?.source.text.slice(start, end) ?? '' };
  });
}

/** Returns the lines of SPANS in the order of the text, as `3` or `5-7`. A span that does not begin its line is shown
 * with its first characters, as `9 (print x)`. Adjacent spans that begin their lines are joined. Spans within lines
 * that are listed already are left out. */
function linesOf(source: SourceText, spans: readonly Span[]): string[] {
  const { text } = source;
  const lines: string[] = [];
  let range: { first: number; last: number } | undefined;
  const endRange = () => {
    if (range) lines.push(range.first === range.last ? `${range.first}` : `${range.first}-${range.last}`);
    range = undefined;
  };
  for (const { start, end } of spans) {
    const first = source.positionAt(start).line;
    const last = source.positionAt(Math.max(start, end - 1)).line;
    const beginsLine = text.slice(text.lastIndexOf('\n', start - 1) + 1, start).trim() === '';
    if (beginsLine && range !== undefined && first <= range.last + 1) range.last = Math.max(range.last, last);
    else if (beginsLine) {
      endRange();
      range = { first, last };
    } else if (range === undefined || first > range.last) {
      endRange();
      lines.push(partText(text, { start, end }, first, last));
    }
  }
  endRange();
  return lines;
}

function partText(text: string, { start, end }: Span, first: number, last: number): string {
  const shown = cutText(text.slice(start, end).replace(/\s+/g, ' '), PART_LIMIT);
  return `${first === last ? first : `${first}-${last}`} ${shown}`;
}

/** Returns the coverage as text, with at most LIMIT definitions of each kind. */
export function coverageText({ measured, missed }: Coverage, limit: number): string {
  const shared = commonPrefix(measured.map(({ name }) => name));
  const name = (covered: Covered) => covered.name.replace(shared, '');
  const ran = measured.filter(({ reached }) => reached);
  const partly = ran.filter(({ never }) => never.length > 0);
  const unreached = measured.filter(({ reached }) => !reached);
  const rows = partly.map((each) => `  ${name(each)} ${each.at}: never ${fewOf(each.never, ITEM_LIMIT)}`);
  const shown = fittingRows(rows.slice(0, limit));
  return [
    measured.length === 0
      ? 'Coverage: nothing was measured. It is measured only for functions and methods in loaded files of the workspace.'
      : `Coverage: ${ran.length} of ${measured.length} definitions ran, ${ran.length - partly.length} of them wholly.`,
    ...shown,
    ...(rows.length > shown.length ? [`  ... ${rows.length - shown.length} more; limit shows more`] : []),
    ...(unreached.length > 0
      ? [
          `Never ran: ${fewOf(
            unreached.map((each) => `${name(each)} ${each.at}`),
            limit,
          )}`,
        ]
      : []),
    ...(missed > 0 ? [`Definitions not measured: ${missed}.`] : []),
  ].join('\n');
}

/** Returns the line that names TESTS, which have no coverage because the image was lost; '' when there are none. */
export function lostLine(tests: readonly string[]): string {
  return tests.length === 0
    ? ''
    : `The coverage of these tests was lost with the image, and is not counted: ${fewOf(tests, ITEM_LIMIT)}.`;
}
