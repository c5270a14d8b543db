// Lists the tools that run code in the image, in the order in which clients see them.

import type { Image } from '../../image/image.ts';
import type { Tool } from '../../kernel/tool.ts';
import type { ReplHistory } from '../../records/repl-history.ts';
import type { Holds } from '../debug/hold.ts';
import type { Places } from '../places.ts';
import { compileForm } from './compilation.ts';
import { evalForm } from './evaluation.ts';
import { getReplHistory } from './history.ts';
import { getLastError } from './last-error.ts';

/** Returns the tools of the category execution that are among the eighteen (C5). PLACES locates frames; HOLDS keeps
 *  errors. */
export function executionTools(
  image: Image,
  history: ReplHistory,
  { places, holds }: { places: Places; holds: Holds },
): Tool[] {
  return [
    evalForm(image, history, { places, holds }),
    compileForm(image, { places, holds }),
    getLastError(image, places),
    getReplHistory(history),
  ];
}
