// Decides which warnings were told before, by whichever tool loaded their file.

import type { Warning } from '../image/wire/data.ts';
import { groupBy } from './grouping.ts';

/** What was told of warnings before. An edit compiles much again that it did not change. */
export class ToldWarnings {
  /** By file, of its last load with warnings. */
  readonly #files = new Map<string, ReadonlySet<string>>();

  /** Keeps WARNINGS of a load, and returns those that no load before had of the same file. Errors are always told. */
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
