// Makes the splices for an edit that gives whole definitions and does not say what they replace. Each definition
// replaces the one with the same operator and name in the file. If the file has none, it is appended.

import { CallError } from '../../errors.ts';
import { definitionOf } from '../../source/definition.ts';
import { formsNaming, type NamingForm } from '../../source/definitions.ts';
import { commentedStart, type Splice } from '../../source/splice.ts';
import { SourceText } from '../../source/text.ts';
import { type Extent, TopLevelForms } from '../../source/top-level.ts';
import { visibleName } from '../../visible.ts';
import { splicesAtEnd, splicesOf, wholeForms } from './edit-splices.ts';
import type { EditedFile } from './edited-files.ts';

/** Returns the splices that put the definitions in TEXT into FILE, for the edit LABEL. If TEXT has a comment above a
 * definition, this comment replaces the comment in FILE. Throws a CallError when TEXT does not consist of whole forms,
 * or when FILE has a definition twice. */
export function splicesOfWhole(label: string, text: string, file: EditedFile): Splice[] {
  const given = new TopLevelForms(new SourceText(wholeForms(label, text, file)), file.forms.features);
  const extents = given.allExtents();
  if (extents.length === 0) throw new CallError(`${label}.text has no form.`);
  const splices: Splice[] = [];
  const added: string[] = [];
  for (const extent of extents) {
    const from = commentedStart(given, extent);
    const written = given.source.text.slice(from, extent.end);
    const target = targetOf(label, given, extent, file);
    if (target === undefined) {
      added.push(written);
      continue;
    }
    const isCommented = from < extent.fullStart;
    const start = isCommented ? commentedStart(file.forms, target) : target.start;
    const change = { kind: 'replace', text: written } as const;
    splices.push(...splicesOf({ label, change }, { file, target: { ...target, start } }));
  }
  if (added.length > 0) splices.push(...splicesAtEnd(label, added.join('\n\n'), file));
  return splices;
}

/** Returns the form in the file that makes the same definition as the form at EXTENT; undefined when there is none. */
function targetOf(
  label: string,
  given: TopLevelForms,
  extent: Extent,
  { forms, source, present }: EditedFile,
): NamingForm | undefined {
  const form = given.formFrom(extent.start);
  const definition = form && definitionOf(form);
  if (definition === undefined) return undefined;
  const { name, operator, method } = definition;
  const same = formsNaming(forms, { name }).filter(
    (each) => each.operator === operator && each.method === method && each.start === each.top,
  );
  const [target, ...more] = same;
  if (target === undefined || more.length === 0) return target;
  const lines = same.map(({ start }) => source.lineAt(start));
  throw new CallError(
    `${label}: ${visibleName(present.name)} has ${target.head} at lines ${lines.join(' and ')}. Nothing was changed. To choose one, give 'definition' and 'line'.`,
  );
}
