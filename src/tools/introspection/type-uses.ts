// Decides where the sources name a type: SBCL records no uses of one.

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

/** Returns where the files of FACTS name their symbol, but for its definition as a type. Returns undefined when that names no
 *  type, or one that is a class. */
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
