/** Finds the places where a source text names a package: alone, or as the prefix of a symbol. */

import { type Features, type Form, formsWithin, symbolNameOf } from './form.ts';
import { PACKAGE_MARKER } from './lexer.ts';
import { mayContain } from './mentioning.ts';
import { isPackageDefinition, OWN_OPTIONS } from './packages.ts';
import type { SourceText } from './text.ts';
import { TopLevelForms } from './top-level.ts';

/** Where a text names a package. definition: in the definition of another package, which uses it or imports from it.
 * current: in IN-PACKAGE. prefix: before a symbol. name: anywhere else, as in (find-package :name). */
export type PackageRole = 'definition' | 'current' | 'prefix' | 'name';

/** Returns the places in SOURCE that name the package with these NAMES, except in its own definition. FEATURES decide
 * what #+ and #- include. */
export function packageNamedIn(
  source: SourceText,
  features: Features,
  names: ReadonlySet<string>,
): { start: number; top: number; role: PackageRole }[] {
  const words = [...names];
  if (!mayContain(source.text, words)) return [];
  return [...new TopLevelForms(source, features).mentioning(words)].flatMap(({ form: top }) =>
    [...formsWithin(top)].flatMap((part) => {
      const role = part.notation === 'atom' ? roleOf(part, top, names) : undefined;
      return role === undefined ? [] : { start: part.start, top: top.start, role };
    }),
  );
}

function roleOf(part: Form, top: Form, names: ReadonlySet<string>): PackageRole | undefined {
  const separator = part.name?.indexOf(PACKAGE_MARKER) ?? -1;
  if (separator > 0 && names.has(part.name?.slice(0, separator) ?? '')) return 'prefix';
  if (!names.has(part.designatedString ?? '')) return undefined;
  const { parent } = part;
  if (parent && isPackageDefinition(parent)) return part.index === 1 ? undefined : 'definition';
  const operator = symbolNameOf(parent?.elements[0]);
  if (operator === 'IN-PACKAGE') return 'current';
  if (isPackageDefinition(top)) return isInOption(part, operator) ? 'definition' : undefined;
  return part.isString || separator === 0 ? 'name' : undefined;
}

/** Returns true when a form in the option OPERATOR of a package definition names another package. */
function isInOption({ index }: Form, operator: string): boolean {
  if (operator.endsWith('IMPORT-FROM')) return index === 1;
  return index > 0 && !OWN_OPTIONS.has(operator) && !['NICKNAMES', 'DOCUMENTATION'].includes(operator);
}
