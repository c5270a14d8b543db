// Decides which tools look at the image, in the order of the list.

import type { Image } from '../../image/image.ts';
import type { Tool } from '../../kernel/tool.ts';
import type { Places } from '../places.ts';
import { aproposSearch, describeSymbol } from './symbols.ts';
import { whoCalls } from './xref.ts';

/** Returns the tools of the category introspection, over IMAGE. */
export function introspectionTools(image: Image, places: Places): Tool[] {
  return [aproposSearch(image), whoCalls(image, places), describeSymbol(image, places)];
}
