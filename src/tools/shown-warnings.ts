// Records the warnings that answers have shown, for all tools that load files.

import type { Remarks, Warning } from '../image/wire/operations.ts';
import type { EarlierAnswers } from '../kernel/earlier-answers.ts';
import { groupBy } from './grouping.ts';

/** The warnings that answers have shown. SBCL gives many of them again at the next load of the file, because this also
 * compiles the definitions that have not changed. */
export class ShownWarnings {
  /** By file: the warnings of its last load that had warnings. */
  readonly #files = new Map<string, ReadonlyMap<string, Warning>>();

  /** Records WARNINGS, the warnings of a load. Returns the errors, and the warnings that the previous load of their
   * file did not have. */
  keep(warnings: readonly Warning[] = []): Warning[] {
    const fresh = warnings.filter((warning) => this.#isNew(warning));
    for (const [file, some] of groupBy(warnings, ({ file = '' }) => file))
      this.#files.set(file, new Map(some.map((warning) => [keyOf(warning), warning])));
    return fresh;
  }

  #isNew(warning: Warning): boolean {
    return warning.severity === 'error' || !this.#files.get(warning.file ?? '')?.has(keyOf(warning));
  }

  /** Returns those of WARNINGS that the next answer has to show: errors, warnings that no earlier answer has shown, and
   * warnings that the previous load of their file did not have. */
  newFor(earlierAnswers: EarlierAnswers, warnings: readonly Warning[]): Warning[] {
    return warnings.filter((warning) => {
      const isRepeated = earlierAnswers.repeats(`warning ${warning.file} ${keyOf(warning)}`);
      return !isRepeated || this.#isNew(warning);
    });
  }

  lackedBy(others: readonly ShownWarnings[], files: readonly string[]): Warning[] {
    return files.flatMap((file) =>
      [...(this.#files.get(file) ?? [])].flatMap(([key, warning]) =>
        others.some((other) => other.#files.get(file)?.has(key)) ? [] : [warning],
      ),
    );
  }
}

/** Returns a copy of REMARKS without the warnings that earlier answers showed, and a sentence with their number. Leaves
 * out no warnings when REMARKS has only some of the warnings of the call, or when EARLIER_ANSWERS is undefined. Records
 * the warnings in SHOWN_WARNINGS. */
export function freshWarnings<T extends Remarks>(
  remarks: T,
  shownWarnings: ShownWarnings,
  earlierAnswers: EarlierAnswers | undefined,
): { fresh: T; same: string } {
  const { warnings = [], warningCount = warnings.length } = remarks;
  const isWhole = warningCount === warnings.length;
  const shown =
    earlierAnswers !== undefined && isWhole ? shownWarnings.newFor(earlierAnswers, warnings) : warnings;
  shownWarnings.keep(warnings);
  const count = warnings.length - shown.length;
  const fresh = { ...remarks, warnings: shown, warningCount: warningCount - count };
  return { fresh, same: sameText(count) };
}

/** Returns a sentence about COUNT warnings that an earlier answer showed; '' when COUNT is 0. */
export function sameText(count: number): string {
  if (count === 0) return '';
  return count === 1 ? 'The same warning as before.' : `The same ${count} warnings as before.`;
}

function keyOf({ severity, text, form, definition }: Warning): string {
  return JSON.stringify([severity, text, form, definition]);
}
