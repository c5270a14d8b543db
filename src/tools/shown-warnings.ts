// Remembers which warnings were already shown, whichever tool loaded their file.

import type { Warning } from '../image/wire/operations.ts';
import type { Told } from '../kernel/told.ts';
import { groupBy } from './grouping.ts';

/** The warnings already shown. An edit recompiles many definitions that it did not change, so their warnings
 *  recur. */
export class ShownWarnings {
  /** For each file, the warnings of its last load that gave warnings, by their keys. */
  readonly #files = new Map<string, ReadonlyMap<string, Warning>>();

  /** Records a load's WARNINGS. Returns the errors, and the other warnings that the file's previous load
   *  lacked. */
  keep(warnings: readonly Warning[] = []): Warning[] {
    const fresh = warnings.filter((warning) => this.#isNew(warning));
    for (const [file, some] of groupBy(warnings, ({ file = '' }) => file))
      this.#files.set(file, new Map(some.map((warning) => [keyOf(warning), warning])));
    return fresh;
  }

  #isNew(warning: Warning): boolean {
    return warning.severity === 'error' || !this.#files.get(warning.file ?? '')?.has(keyOf(warning));
  }

  /** Returns the errors among the WARNINGS of a load, and the warnings that TOLD lacks, so that no earlier
   *  answer has shown them, or that the previous load of the file did not cause. */
  newFor(told: Told, warnings: readonly Warning[]): Warning[] {
    return warnings.filter((warning) => {
      const seen = told.repeats(`warning ${warning.file} ${keyOf(warning)}`);
      return !seen || this.#isNew(warning);
    });
  }

  /** Returns the warnings about FILES that these have and all of OTHERS lack. */
  lackedBy(others: readonly ShownWarnings[], files: readonly string[]): Warning[] {
    return files.flatMap((file) =>
      [...(this.#files.get(file) ?? [])].flatMap(([key, warning]) =>
        others.some((other) => other.#files.get(file)?.has(key)) ? [] : [warning],
      ),
    );
  }
}

/** Returns the sentence on COUNT warnings that an earlier answer showed; '' when there are none. */
export function sameText(count: number): string {
  if (count === 0) return '';
  return count === 1 ? 'The same warning as before.' : `The same ${count} warnings as before.`;
}

function keyOf({ severity, text, form, definition }: Warning): string {
  return JSON.stringify([severity, text, form, definition]);
}
