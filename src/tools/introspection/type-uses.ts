// Finds places where sources name a type: SBCL records no uses of types.

import type { ImpactData } from '../../image/wire/introspection.ts';
import { boundLine } from '../../kernel/reply.ts';
import { symbolsIn } from '../../source/names.ts';
import { partsOfName } from '../../source/qualified.ts';
import type { Places } from '../places.ts';

/** A place where a source names the symbol of a type. */
interface Naming {
  at: string;
  text: string;
}

/** Returns the places in the files of FACTS that name its symbol, without its definition as a type. Returns undefined
 *  when the symbol names no type, or a class. */
export function typeUses(
  { name, type, files = [], homes = [] }: ImpactData,
  places: Places,
): Naming[] | undefined {
  if (!type) return undefined;
  const used = { name: partsOfName(name).symbol, packages: new Set(homes) };
  return files.flatMap((file) => {
    const source = places.sourceText(file);
    return (source ? symbolsIn(source, places.features, used, 'DEFTYPE') : []).map((index) => {
      const { line, column, text } = source?.positionAt(index) ?? { line: 0, column: 0, text: '' };
      return { at: `${places.fileName(file)}:${line}:${column}`, text: boundLine(text, column) };
    });
  });
}
