// Lists the tools that inspect the image, in the order in which clients see them.

import type { Image } from '../../image/image.ts';
import type { Tool } from '../../kernel/tool.ts';
import type { Places } from '../places.ts';
import { classHierarchy, classSlots } from './clos.ts';
import { functionArglist } from './functions.ts';
import { macroexpandForm } from './macros.ts';
import { listPackageSymbols } from './packages.ts';
import { whoReferences } from './references.ts';
import { aproposSearch, describeSymbol } from './symbols.ts';
import { whoCalls } from './xref.ts';

/** Returns the tools of the category introspection (C5). */
export function introspectionTools(image: Image, places: Places): Tool[] {
  return [
    describeSymbol(image, places),
    aproposSearch(image, places),
    functionArglist(image, places),
    whoCalls(image, places),
    whoReferences(image, places),
    listPackageSymbols(image),
    classSlots(image),
    classHierarchy(image),
    macroexpandForm(image, places),
  ];
}
