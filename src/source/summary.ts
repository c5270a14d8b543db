/** Sums up a Lisp file: the names that it defines, exports and uses. */

import { definedSymbol, isDefiner } from './definition.ts';
import { namedForms, type OutlineEntry, outlineEntry } from './definitions.ts';
import { elementsOf, type Form, symbolNameOf } from './form.ts';
import { PACKAGE_MARKER, tokenName, tokensOf, upperCase, withoutPackage } from './lexer.ts';
import { isPackageDefinition } from './packages.ts';
import type { TopLevelForms } from './top-level.ts';

/** A definition in a file. */
export interface SummedDefinition extends Pick<OutlineEntry, 'operator' | 'name' | 'documentation'> {
  /** The name without its package, as the reader interns it; '' for a setf function or a string. */
  symbol: string;
  /** The package that is current at the definition. */
  home: string;
}

export interface FileSummary {
  /** The packages that IN-PACKAGE forms make current. */
  packages: string[];
  definitions: SummedDefinition[];
  /** Maps an operator to the number of its forms that name something without defining it, such as tests of FiveAM. */
  others: Map<string, number>;
  /** Maps a package that the file defines to the names that it exports. */
  exports: Map<string, string[]>;
  /** Names that the file writes as operators, after a quote, or with asterisks or plus signs around them. */
  uses: Set<string>;
}

/** Returns the summary of a file with FORMS. Awaits TURN between forms, so that other work can run. */
export async function summaryOf(forms: TopLevelForms, turn: () => Promise<void>): Promise<FileSummary> {
  const summary: FileSummary = {
    packages: [],
    definitions: [],
    others: new Map(),
    exports: new Map(),
    uses: new Set(),
  };
  await forms.readAhead(turn);
  for (const { start } of forms.allExtents()) {
    addForm(summary, forms, start);
    await turn();
  }
  return summary;
}

function addForm(summary: FileSummary, forms: TopLevelForms, start: number): void {
  const top = forms.formFrom(start);
  if (top === undefined) return;
  addUses(summary.uses, top.text);
  const operator = symbolNameOf(top.first);
  const [, named] = elementsOf(top);
  if (operator === 'IN-PACKAGE' && named?.designatedString !== undefined) {
    if (!summary.packages.includes(named.designatedString)) summary.packages.push(named.designatedString);
    return;
  }
  if (isPackageDefinition(top) && named?.designatedString !== undefined) {
    summary.exports.set(named.designatedString, exportsIn(top));
    return;
  }
  for (const { form, depth } of namedForms(top)) {
    const { operator, name, documentation } = outlineEntry(form, depth);
    const defined = definedSymbol(form);
    const symbol = defined.setf ? '' : symbolNameOf(defined.symbol);
    if (isDefiner(defined.operator))
      summary.definitions.push({ operator, name, documentation, symbol, home: forms.homeAt(start) });
    else if (depth === 0) summary.others.set(operator, (summary.others.get(operator) ?? 0) + 1);
  }
}

/** Returns the names in the :export options of TOP, a package definition. */
function exportsIn(top: Form): string[] {
  return elementsOf(top)
    .slice(2)
    .filter((option) => symbolNameOf(option.first) === 'EXPORT')
    .flatMap((option) => elementsOf(option).slice(1))
    .flatMap(({ designatedString }) => designatedString ?? []);
}

function addUses(uses: Set<string>, text: string): void {
  let before = '';
  for (const { kind, start, end } of tokensOf(text)) {
    if (kind === 'atom') {
      const name = tokenName(kind, text.slice(start, end));
      const isKeyword = name.startsWith(PACKAGE_MARKER);
      const symbol = withoutPackage(name);
      if (symbol !== '' && !isKeyword && (/^[('`]$|^#'$/.test(before) || /^[*+].*[*+]$/.test(symbol)))
        uses.add(upperCase(symbol));
    }
    before = kind;
  }
}
