/** Indexes where each name stands in a Lisp text. */

import { type Features, skippedIn } from './form.ts';
import { bare, MARK, nextToken, type Token } from './lexer.ts';
import { canHave } from './mentioning.ts';
import { TopLevelForms } from './position.ts';
import type { SourceText } from './text.ts';
import type { TopLevelForm } from './top-level.ts';
import { namesSymbol, type Used } from './uses.ts';

/** A mention of a name. INDEX is that of the name, or of the `(` or #' directly before it. CALLED is false for data. */
export interface Mention {
  index: number;
  called: boolean;
}

/** A mention is stored as its index times BITS, plus these flags. */
const CALLED = 1;
const DEFINED = 2;
const BITS = 4;

/** Yields the tokens of TEXT from START to END, a top-level form, without what #+ and #- exclude under FEATURES. */
function* tokensOf(
  text: string,
  { start, end }: { start: number; end: number },
  features: Features,
): Generator<Token, void> {
  const skipped = /#[+-]/.test(text.slice(start, end)) ? skippedIn(text, start, features) : [];
  let token = nextToken(text, start, false);
  while (token.kind !== 'end' && token.start < end) {
    const { start: at } = token;
    const left = skipped.find((span) => span.start <= at && at < span.end);
    if (left === undefined) yield token;
    token = nextToken(text, left?.end ?? token.end, false);
  }
}

/** An index of the names in a text, built in one pass. */
export class Names {
  readonly #mentions = new Map<string, number[]>();

  /** Indexes SOURCE with its top-level FORMS under FEATURES. */
  constructor(source: string, forms: readonly TopLevelForm[], features: Features) {
    for (const form of forms) this.#look(source, form, features);
  }

  /** Returns the uses of the symbol NAME, of any package, in FORM, and how many definitions of it FORM has. */
  in({ start, end }: TopLevelForm, name: string): { uses: Mention[]; definitions: number } {
    const there = (this.#mentions.get(name) ?? []).filter(
      (each) => each >= start * BITS && each < end * BITS,
    );
    const uses = there.filter((each) => (each & DEFINED) === 0);
    return {
      uses: uses.map((each) => ({ index: Math.floor(each / BITS), called: (each & CALLED) !== 0 })),
      definitions: there.length - uses.length,
    };
  }

  #look(source: string, form: TopLevelForm, features: Features): void {
    const quotes = new Quotes();
    let [first, last]: (Token | undefined)[] = [];
    for (const token of tokensOf(source, form, features)) {
      const quoted = quotes.pass(token);
      if (token.kind === 'atom' && token.name !== '' && !token.name.startsWith(MARK)) {
        const opened = last?.kind === '(' || last?.kind === "#'" ? last : undefined;
        const defined = first?.kind === '(' && last?.kind === 'atom' && bare(last.name).startsWith('DEF');
        const called = opened !== undefined && !quoted;
        this.#note(token.name, (opened ?? token).start * BITS + (defined ? DEFINED : called ? CALLED : 0));
      }
      [first, last] = [last, token];
    }
  }

  #note(token: string, mention: number): void {
    const name = bare(token);
    const known = this.#mentions.get(name);
    if (known === undefined) this.#mentions.set(name, [mention]);
    else known.push(mention);
  }
}

/** Tracks which tokens are quoted as they pass. */
class Quotes {
  #depth = 0;
  #pending = false;
  #from: number | undefined;

  /** Returns whether TOKEN is inside a quoted form. */
  pass({ kind }: Token): boolean {
    if (kind === "'") this.#pending = true;
    if (kind === "'") return this.#from !== undefined;
    if (kind === ')' && --this.#depth === this.#from) this.#from = undefined;
    const quoted = this.#pending || this.#from !== undefined;
    if (kind === '(' || kind === '#(') {
      if (this.#pending) this.#from ??= this.#depth;
      this.#depth++;
    }
    this.#pending = false;
    return quoted;
  }
}

/** Returns the offsets of the symbol USED in SOURCE under FEATURES, except where the operator DEFINER defines it. */
export function symbolsIn(source: SourceText, features: Features, used: Used, definer: string): number[] {
  const found: number[] = [];
  if (!canHave(source.text, [used.name])) return found;
  const forms = new TopLevelForms(source, features);
  for (const start of forms.starts()) {
    const end = forms.end(start);
    if (!canHave(source.text.slice(start, end), [used.name])) continue;
    const named = { ...used, current: forms.packageAt(start) };
    let last = '';
    for (const token of tokensOf(source.text, { start, end }, features)) {
      if (token.kind === 'atom' && last !== definer && namesSymbol(token.name, named))
        found.push(token.start);
      last = token.kind === 'atom' ? bare(token.name) : '';
    }
  }
  return found;
}
