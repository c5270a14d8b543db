// Decides which tools are built in, in the order of the list.

import type { Image } from '../image/image.ts';
import type { Tool } from '../kernel/tool.ts';
import { evalForm } from './evaluation.ts';
import { loadFile, loadSystem } from './loading.ts';
import { Places } from './places.ts';
import { aproposSearch, describeSymbol } from './symbols.ts';
import { whoCalls } from './xref.ts';

/** Returns the built-in tools over IMAGE; relative paths start at ROOT. */
export function builtinTools(image: Image, root: string): Tool[] {
  const places = new Places(root);
  return [
    aproposSearch(image),
    whoCalls(image, places),
    describeSymbol(image, places),
    evalForm(image),
    loadSystem(image, places),
    loadFile(image, places, root),
  ];
}
