// Remembers which warnings were already shown, whichever tool loaded their file.

import type { Warning } from '../image/wire/operations.ts';
import { groupBy } from './grouping.ts';

/** The warnings already shown. An edit recompiles many definitions that it did not change, so their warnings
 *  recur. */
export class ShownWarnings {
  /** For each file, the keys of the warnings of its last load that gave warnings. */
  readonly #files = new Map<string, ReadonlySet<string>>();

  /** Records a load's WARNINGS. Returns the errors, and the other warnings that the file's previous load
   *  lacked. */
  keep(warnings: readonly Warning[] = []): Warning[] {
    const fresh = warnings.filter(
      (warning) => warning.severity === 'error' || !this.#files.get(warning.file ?? '')?.has(keyOf(warning)),
    );
    for (const [file, some] of groupBy(warnings, ({ file = '' }) => file))
      this.#files.set(file, new Set(some.map(keyOf)));
    return fresh;
  }
}

function keyOf({ severity, text, form, definition }: Warning): string {
  return JSON.stringify([severity, text, form, definition]);
}
