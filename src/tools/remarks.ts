// Renders warnings and redefinitions.

import type { Remarks, Warning } from '../image/wire/operations.ts';
import { indent, joinSections } from '../kernel/reply.ts';
import { groupBy } from './grouping.ts';
import { didYouMean } from './natures.ts';
import type { Places } from './places.ts';

/** The severities of warnings, in the order in which answers show them. */
const SEVERITIES: readonly Warning['severity'][] = ['error', 'warning', 'undefined', 'style-warning', 'note'];

function sorted(warnings: Warning[]): Warning[] {
  const rank = ({ severity }: Warning) => SEVERITIES.indexOf(severity);
  return [...warnings].sort((one, other) => rank(one) - rank(other));
}

/** Returns the section with the warnings about evaluated forms, each with its form; undefined when there are none.
 * Compiler notes are only counted, and so are warnings about files outside the root of PLACES, which the caller cannot
 * mend. */
export function warningSection(remarks: Remarks, places: Places | undefined): string | undefined {
  const { warnings = [], warningCount = 0, noteCount = 0, fileNoteCount = 0 } = remarks;
  const formNotes = noteCount - fileNoteCount;
  const noted = warnings.filter(({ severity }) => severity !== 'note');
  const listed = noted.filter(
    ({ file, severity }) =>
      file === undefined || severity === 'error' || places === undefined || places.isOwn(file),
  );
  const left = listed.length === noted.length ? 0 : warningCount - noteCount - listed.length;
  return joinSections([
    warningsAndNotes({ warnings: listed, warningCount: warningCount - noteCount - left }),
    left > 0 &&
      `Left out: ${left} ${left === 1 ? 'warning' : 'warnings'} in files outside the workspace. To see those of a library, call load_system with force: true.`,
    formNotes > 0 &&
      `Note: ${formNotes} compiler ${formNotes === 1 ? 'note' : 'notes'}; compile_form shows those of a form.`,
  ]);
}

/** Returns the section with all warnings and compiler notes; undefined when there are none. */
export function warningsAndNotes(remarks: Remarks): string | undefined {
  const warnings = sorted(remarks.warnings ?? []);
  if (warnings.length === 0) return undefined;
  return `${countLine(remarks)}:\n${warnings.map((warning) => indent(warningText(warning), 2)).join('\n')}`;
}

/** Returns the section with all warnings of a load, grouped by file, with their lines and definitions; undefined when
 * there are none. */
export function groupedWarnings(remarks: Remarks, places: Places): string | undefined {
  const warnings = sorted(remarks.warnings ?? []);
  if (warnings.length === 0) return undefined;
  const files = groupBy(warnings, ({ file }) => file ?? '');
  const sections = [...files].map(([file, inFile]) => {
    const at = ({ offset = 0, start = offset }: Warning) => start;
    const ordered = sorted(inFile.sort((one, other) => at(one) - at(other)));
    const alike = groupBy(ordered, ({ severity, text, near }) => JSON.stringify([severity, text, near]));
    const lines = [...alike.values()].map((group) => indent(alikeText(group, places), 4));
    return `  ${file === '' ? 'No file' : places.fileName(file)}\n${lines.join('\n')}`;
  });
  return `${countLine(remarks)}:\n${sections.join('\n')}`;
}

/** GROUP has equal warnings. Returns their text with all their places, and with their form if all have the same
 * form. */
function alikeText(group: Warning[], places: Places): string {
  const wheres = new Set(group.map((warning) => whereText(warning, placeOf(warning, places))));
  // Some warnings have neither a place nor a definition.
  wheres.delete('');
  const forms = new Set(group.map(({ form }) => form));
  const [first] = group;
  if (first === undefined) return '';
  const { form, ...formless } = first;
  const times = group.length > Math.max(1, wheres.size) ? [`${group.length} times`] : [];
  const where = [[...wheres].join('; '), ...times].filter(Boolean).join(', ');
  return warningText(forms.size === 1 ? first : formless, where);
}

/** Returns the line and column of the form that caused the warning. If they are unknown, returns the line of its
 * top-level form; '' if that is unknown too. */
function placeOf({ file, offset, start }: Warning, places: Places): string {
  const text = file === undefined ? undefined : places.sourceText(file);
  if (file === undefined || text === undefined) return '';
  if (start !== undefined) {
    const { line, column } = text.positionAt(text.indexOfCharacter(start));
    return `line ${line}:${column}, `;
  }
  const position = offset === undefined ? undefined : places.formAt(file, offset);
  return position === undefined ? '' : `line ${position.line}, `;
}

function countLine({ warnings = [], warningCount = warnings.length }: Remarks): string {
  const shown = warningCount > warnings.length ? `, ${warnings.length} of them shown` : '';
  return `Warnings (${warningCount}${shown})`;
}

function whereText({ definition, formNumber }: Warning, place = ''): string {
  const where = definition ?? (formNumber === undefined ? '' : `form ${formNumber}`);
  return `${place}${where}`.replace(/, $/, '');
}

function warningText(warning: Warning, where = whereText(warning)): string {
  const { severity, text, near, form } = warning;
  const kind = severity === 'undefined' ? 'STYLE-WARNING' : severity.toUpperCase();
  const question = didYouMean(near);
  return `${kind}${where && ` (${where})`}: ${text.trim()}${question ? `. ${question}` : ''}${form ? `\n  in ${form}` : ''}`;
}

/** Returns the name of the redefined function or method in TEXT, the report of SBCL's warning. The names of classes
 * replace the class objects in the name of a method. */
function redefinedText(text: string): string {
  return text
    .replace(/^redefining /i, '')
    .replace(/\s+/g, ' ')
    .replace(/#<[^\s<>]*-CLASS ([^\s<>]+)>/g, '$1');
}

/** Returns the section with the redefinitions; undefined when there are none. */
export function redefinedSection({ redefined = [] }: Remarks): string | undefined {
  if (redefined.length === 0) return undefined;
  return `Redefined: ${redefined.map(redefinedText).join('; ')}`;
}

/** Returns a note when the session got a new readtable, or when forms changed variables of the reader or the printer;
 * else undefined. */
export function readtableSection({ freshReadtable, styles = [] }: Remarks): string | undefined {
  if (freshReadtable) {
    return 'Note: the readtable of the session could no longer read any form, so a fresh readtable replaced it.';
  }
  if (styles.length === 0) return undefined;
  const each = styles.map(({ name, value }) =>
    name === '*READTABLE*' ? `the readtable to another (${value})` : `${name} to ${value}`,
  );
  return `Note: this session now reads or prints differently from a fresh SBCL, because a form set ${each.join(', ')}.`;
}
