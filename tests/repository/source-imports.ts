// Decides how the imports of a TypeScript file are read, those of types too.

import { type Hit, hitsIn, textOf } from './files.ts';

/** As Biome formats them, a static import ends its statement with the quoted name; a dynamic one opens with it. */
export const STATIC = /^(?:(?:(?:import|export) [^'\n]*|\}) from|import) '([^'\n]+)';$/gm;
const DYNAMIC = /\bimport\(\s*'([^'\n]+)'/g;

/** Returns every import of the file at PATH, whose text is TEXT, with what it names. */
export function importsOf(path: string, text = textOf(path)): Hit[] {
  return [...hitsIn(path, STATIC, text), ...hitsIn(path, DYNAMIC, text)];
}
