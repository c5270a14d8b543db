// Decides which tools run code in the image, in the order of the list.

import type { Image } from '../../image/image.ts';
import type { Tool } from '../../kernel/tool.ts';
import type { ReplHistory } from '../../records/repl-history.ts';
import { compileForm } from './compilation.ts';
import { evalForm } from './evaluation.ts';
import { getReplHistory } from './history.ts';
import { getLastError } from './last-error.ts';

/** Returns the tools of the category execution that are among the eighteen (C5), over IMAGE and HISTORY. */
export function executionTools(image: Image, history: ReplHistory): Tool[] {
  return [evalForm(image, history), compileForm(image), getLastError(image), getReplHistory(history)];
}
