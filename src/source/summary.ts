/** Sums up a Lisp file: the names that it defines, exports and uses. */

import { type Defined, definedAt } from './definitions.ts';
import { bareName, elementsOf, type Form } from './form.ts';
import { bareTokenName, nameOf, PACKAGE_MARKER, tokensOf, upperCase } from './lexer.ts';
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
  const operator = bareName(top.first);
  const [, named] = elementsOf(top);
  if (operator === 'IN-PACKAGE' && named?.designated !== undefined) {
    if (!summary.packages.includes(named.designated)) summary.packages.push(named.designated);
    return;
  }
  if (isPackageDefinition(top) && named?.designated !== undefined) {
    summary.exports.set(named.designated, exportsIn(top));
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
    .filter((option) => bareName(option.first) === 'EXPORT')
    .flatMap((option) => elementsOf(option).slice(1))
    .flatMap(({ designated }) => designated ?? []);
}

function symbolOf(name: string): string {
  return name.startsWith('(') || name.startsWith('"') ? '' : bareTokenName(nameOf('atom', name));
}

function addUses(uses: Set<string>, text: string): void {
  let before = '';
  for (const { kind, start, end } of tokensOf(text)) {
    if (kind === 'atom') {
      const name = nameOf(kind, text.slice(start, end));
      const isKeyword = name.startsWith(PACKAGE_MARKER);
      const bare = bareTokenName(name);
      if (bare !== '' && !isKeyword && (/^[('`]$|^#'$/.test(before) || /^[*+].*[*+]$/.test(bare)))
        uses.add(upperCase(bare));
    }
    before = kind;
  }
}
