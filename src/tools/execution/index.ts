// Decides which tools run code in the image, in the order of the list.

import type { Image } from '../../image/image.ts';
import type { Tool } from '../../kernel/tool.ts';
import { compileForm } from './compilation.ts';
import { evalForm } from './evaluation.ts';
import { getLastError } from './last-error.ts';

/** Returns the tools of the category execution that are among the eighteen (C5), over IMAGE. */
export function executionTools(image: Image): Tool[] {
  return [evalForm(image), compileForm(image), getLastError(image)];
}
