// Moves the comment above a definition when the edits of one call delete the definition and insert it
// elsewhere.

import { formsNaming } from '../../source/definitions.ts';
import type { Features } from '../../source/form.ts';
import { commentedStart } from '../../source/splice.ts';
import { SourceText } from '../../source/text.ts';
import { TopLevelForms } from '../../source/top-level.ts';
import type { DefinitionEdit } from './edits.ts';
import type { Located } from './locate.ts';

/** An edit. `located` is the definition that it names; undefined when it names none. */
export interface Placed {
  edit: DefinitionEdit;
  located?: Located | undefined;
}

/** Returns PLACED, the edits of a call, with comments moved. When one edit deletes a definition and another inserts the
 * same definition without a comment, the inserted text gets the comment above the deleted definition. The deletion then
 * includes the comment. */
export function movedWithComments(placed: readonly Placed[], features: Features): Placed[] {
  const moved = [...placed];
  for (const [index, { edit, located }] of placed.entries()) {
    if (located === undefined || edit.query === undefined || edit.change.kind !== 'delete') continue;
    const { file, target } = located;
    const fullStart = commentedStart(file.forms, target);
    if (fullStart === target.fullStart) continue;
    const comment = unindented(file.source.text, fullStart, target.fullStart);
    const definition = { symbol: edit.query.symbol, head: target.head, comment };
    for (const [to, other] of moved.entries()) {
      const commented = withComment(other, definition, features);
      if (commented === undefined) continue;
      moved[to] = commented;
      moved[index] = { edit, located: { file, target: { ...target, fullStart } } };
      break;
    }
  }
  return moved;
}

/** Returns PLACED, an edit, with COMMENT inserted into its new text, above the definition of SYMBOL that begins with
 * HEAD. Returns undefined when the new text lacks this definition, has another comment above it, or has other code
 * before it on its line. */
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
  const own = unindented(text, from, same.fullStart);
  if (own !== '') return own.trim() === comment.trim() ? placed : undefined;
  const commented = text.slice(0, same.fullStart) + comment + text.slice(same.fullStart);
  return { edit: withNewText(edit, commented), located };
}

function unindented(text: string, start: number, end: number): string {
  const column = start - (text.lastIndexOf('\n', start - 1) + 1);
  return text.slice(start, end).replace(new RegExp(`^[ \\t]{0,${column}}`, 'gm'), '');
}

function newTextOf(edit: DefinitionEdit): string | undefined {
  if (edit.query === undefined) return edit.part === undefined ? edit.text : undefined;
  return 'text' in edit.change ? edit.change.text : undefined;
}

function withNewText(edit: DefinitionEdit, text: string): DefinitionEdit {
  if (edit.query === undefined) return edit.part === undefined ? { ...edit, text } : edit;
  return 'text' in edit.change ? { ...edit, change: { ...edit.change, text } } : edit;
}
