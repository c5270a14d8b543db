/** Sums up a Lisp file: the names that it defines, exports and uses. */

import { type Defined, definedAt } from './definitions.ts';
import { elementsOf, type Form, symbolNameOf } from './form.ts';
import { PACKAGE_MARKER, tokenName, tokensOf, upperCase, withoutPackage } from './lexer.ts';
import { isPackageDefinition } from './packages.ts';
import type { TopLevelForms } from './top-level.ts';

/** A definition in a file. */
export interface SummedDefinition extends Pick<Defined, 'operator' | 'name' | 'documentation'> {
  /** The name without its package, as the reader interns it; '' when the name is a list or a string. */
  symbol: string;
  /** The package that is current at the definition. */
  home: string;
}

export interface FileSummary {
  /** The packages that IN-PACKAGE forms make current. */
  packages: string[];
  definitions: SummedDefinition[];
  /** By operator: the number of forms that name something but are no definitions, such as tests of FiveAM. */
  others: Map<string, number>;
  /** By package that the file defines: the exported names. */
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
  for (const defined of definedAt(forms, start)) {
    if (/^(?:.*:)?def/.test(defined.operator))
      summary.definitions.push({
        operator: defined.operator,
        name: defined.name,
        documentation: defined.documentation,
        symbol: symbolOf(defined.name),
        home: forms.homeAt(start),
      });
    else if (defined.depth === 0)
      summary.others.set(defined.operator, (summary.others.get(defined.operator) ?? 0) + 1);
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

function symbolOf(name: string): string {
  return name.startsWith('(') || name.startsWith('"') ? '' : withoutPackage(tokenName('atom', name));
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
