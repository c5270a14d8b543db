// Renders the references that keep an object, or the instances of a class, alive.

import type { Holders, HoldingWay } from '../../image/wire/operations.ts';
import { joinSections } from '../../kernel/reply.ts';
import { countText } from '../observe/units.ts';

/** Returns HOLDERS as text, with a section for each chain of references. SHOWN names the object. */
export function holdersText(holders: Holders, shown: string): string {
  const { many = false, found, ways = [], total, unheld = false } = holders;
  if (unheld) {
    return `Nothing needs to hold ${shown}: numbers and characters are no objects of the heap, and a symbol is held by its package. Ask for an object that could be garbage.`;
  }
  const more = total - ways.length;
  return joinSections([
    headText(holders, shown),
    ...ways.map((way) => wayText(way, many && found > 1)),
    more > 0 && `... ${countText(more, 'more way')}; limit shows more.`,
    notesText(holders),
  ]);
}

function headText({ many, found, system }: Holders, shown: string): string {
  if (found === 0) {
    const what = many ? `an instance of ${shown}` : shown;
    return `Nothing of the program leads to ${what}: it is garbage, or only answers (*, held errors) or running calls hold it.`;
  }
  const own = system ? ' Only what belongs to SBCL leads there.' : '';
  return many
    ? `${countText(found, 'instance')} of ${shown} kept alive.${own}`
    : `${shown} is kept alive by ${countText(found, 'reference')}.${own}`;
}

function wayText({ count, steps }: HoldingWay, counted: boolean): string {
  const lines = steps.map(
    ({ part, value, id }, index) =>
      `${index === 0 ? '' : '  '}${part} = ${value}${id === undefined ? '' : `  ${id}`}`,
  );
  return [...(counted ? [`${count.toLocaleString('en-US')} like this:`] : []), ...lines].join('\n');
}

function notesText({ full, silent = [] }: Holders): string | undefined {
  const notes = [
    full !== undefined &&
      `Only the ${full.toLocaleString('en-US')} objects nearest to the roots were looked at, so there can be more.`,
    silent.length > 0 &&
      `These threads did not tell what is on their stacks: ${silent.join(', ')}. They are in foreign code, or nothing may interrupt them.`,
  ].filter(Boolean);
  return notes.length > 0 ? notes.map((note) => `Note: ${note}`).join('\n') : undefined;
}
