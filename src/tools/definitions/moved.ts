// Keeps the comment above a definition that the edits of one call delete in one place and insert in another.

import { formsNaming } from '../../source/definitions.ts';
import type { Features } from '../../source/form.ts';
import { commentedStart } from '../../source/splice.ts';
import { SourceText } from '../../source/text.ts';
import { TopLevelForms } from '../../source/top-level.ts';
import type { DefinitionEdit } from './edits.ts';
import type { Located } from './locate.ts';

/** An edit and, if it names a definition, that definition. */
export interface Placed {
  edit: DefinitionEdit;
  located?: Located | undefined;
}

/** Returns PLACED, the edits of a call. When one edit deletes a definition, and the text of another edit,
 *  read under FEATURES, has the same definition without a comment, the comment right above the deleted
 *  definition moves with it to that text. When that text has the comment already, the comment is deleted
 *  with the definition. */
export function movedWithComments(placed: readonly Placed[], features: Features): Placed[] {
  const moved = [...placed];
  for (const [index, { edit, located }] of placed.entries()) {
    if (located === undefined || edit.query === undefined || edit.change.kind !== 'delete') continue;
    const { file, target } = located;
    const lead = commentedStart(file.forms, target);
    if (lead === target.lead) continue;
    const comment = unindented(file.source.text, lead, target.lead);
    const definition = { symbol: edit.query.symbol, head: target.head, comment };
    for (const [to, other] of moved.entries()) {
      const commented = withComment(other, definition, features);
      if (commented === undefined) continue;
      moved[to] = commented;
      moved[index] = { edit, located: { file, target: { ...target, lead } } };
      break;
    }
  }
  return moved;
}

/** Returns PLACED with COMMENT in its text, above the definition of SYMBOL that begins with HEAD. Returns
 *  undefined when the text has no such definition, or when the definition there has another comment. */
function withComment(
  placed: Placed,
  { symbol, head, comment }: { symbol: string; head: string; comment: string },
  features: Features,
): Placed | undefined {
  const { edit, located } = placed;
  const text = newTextOf(edit);
  if (text === undefined) return undefined;
  const forms = new TopLevelForms(new SourceText(text), features);
  const same = formsNaming(forms, { name: symbol }).find((each) => each.head === head);
  if (same === undefined) return undefined;
  const from = commentedStart(forms, same);
  if (!/(^|\n)$/.test(text.slice(0, from))) return undefined;
  const own = unindented(text, from, same.lead);
  if (own !== '') return own.trim() === comment.trim() ? placed : undefined;
  const commented = text.slice(0, same.lead) + comment + text.slice(same.lead);
  return { edit: withNewText(edit, commented), located };
}

/** Returns TEXT from START to END, with the lines as far to the left as if START were in the first column. */
function unindented(text: string, start: number, end: number): string {
  const column = start - (text.lastIndexOf('\n', start - 1) + 1);
  return text.slice(start, end).replace(new RegExp(`^[ \\t]{0,${column}}`, 'gm'), '');
}

/** Returns the text of whole forms that EDIT puts into a file, or undefined when EDIT inserts no whole
 *  forms. */
function newTextOf(edit: DefinitionEdit): string | undefined {
  if (edit.query === undefined) return edit.part === undefined ? edit.text : undefined;
  return 'text' in edit.change ? edit.change.text : undefined;
}

/** Returns EDIT, which puts whole forms into a file, with TEXT in their place. */
function withNewText(edit: DefinitionEdit, text: string): DefinitionEdit {
  if (edit.query === undefined) return edit.part === undefined ? { ...edit, text } : edit;
  return 'text' in edit.change ? { ...edit, change: { ...edit.change, text } } : edit;
}
