// Checks the new name of a symbol, and renders conflicts.

import { CallError } from '../../errors.ts';
import type { NameConflict, RenameFacts } from '../../image/wire/operations.ts';
import { symbolIn } from '../../source/symbol-text.ts';

/** Returns the symbol in TEXT, the argument `to`. Throws a CallError when TEXT is not exactly one symbol. */
export function newName(text: string): { name: string; prefix?: string } {
  const found = symbolIn(text.trim());
  if (found !== undefined && found.prefix !== '') return found;
  throw new CallError(`to must be one symbol without quotes or parentheses, such as new-name, not ${text}`);
}

/** Throws a CallError with the conflicts in FACTS. PREFIX is the package prefix of the new name, if any. */
export function checkFacts(facts: RenameFacts, prefix: string | undefined): void {
  const proper = new Map(facts.packageNames ?? []);
  const [first] = facts.renamings;
  if (prefix !== undefined && (proper.get(prefix) ?? prefix) !== facts.home) {
    throw new CallError(
      `${facts.name} stays in its package, and ${prefix} is another. Give to without a package.`,
    );
  }
  if (first?.from === first?.to) throw new CallError(`${facts.name} has that name already.`);
  const texts = facts.renamings.flatMap(({ from, to, conflicts = [] }) => {
    const [first] = conflicts;
    // A package lock does not matter for a symbol that files of the project define, because the project owns
    // the package.
    const own = first?.kind === 'locked' && (facts.places ?? []).length > 0;
    const alone = first?.kind === 'keyword' || first?.kind === 'locked';
    const barred = own ? conflicts.slice(1) : alone ? conflicts.slice(0, 1) : conflicts;
    const bySymbol = new Map(barred.map((conflict) => [conflict.symbol, conflictText(from, to, conflict)]));
    return [...bySymbol.values()];
  });
  if (texts.length > 0) {
    const shown = texts.slice(0, CONFLICT_LIMIT).concat(texts.length > CONFLICT_LIMIT ? ['...'] : []);
    throw new CallError([`${facts.name} cannot be renamed:`, ...shown].join('\n  '));
  }
}

const CONFLICT_LIMIT = 10;

function conflictText(from: string, to: string, conflict: NameConflict): string {
  const { kind, package: home = '', symbol = '', natures = [] } = conflict;
  switch (kind) {
    case 'keyword':
      return `:${from} is a keyword, which all packages share. Edit the texts that have it.`;
    case 'locked':
      return `Package ${home}, which has ${from}, is locked, and no file is known that defines it.`;
    case 'other':
      return `In package ${home} the name ${to} means ${symbol} already. Choose another name.`;
    case 'taken':
      return `${symbol} is defined already${natures.length > 0 ? `, as ${natures.join(' and ').toLowerCase()}` : ''}. Choose another name, or rename that first.`;
  }
}
