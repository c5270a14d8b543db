/** Finds the places of a name in a Lisp text. */

import { type Features, skippedIn } from './form.ts';
import { bare, MARK, nextToken, type Token } from './lexer.ts';
import { canHave } from './mentioning.ts';
import { TopLevelForms } from './position.ts';
import type { SourceText } from './text.ts';
import type { TopLevelForm } from './top-level.ts';
import { namesSymbol, type Used } from './uses.ts';

/** A mention of a name. INDEX is that of the name, or of the `(` or #' directly before it. CALLED is true when one of
 *  these precedes it, and it is not quoted. */
export interface Mention {
  index: number;
  called: boolean;
}

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

/** Returns the uses of NAME, a symbol of any package, in FORM of SOURCE under FEATURES, and the number of definitions
 *  of NAME in FORM. */
export function mentionsOf(
  source: string,
  form: TopLevelForm,
  features: Features,
  name: string,
): { uses: Mention[]; definitions: number } {
  const quotes = new Quotes();
  const uses: Mention[] = [];
  let definitions = 0;
  let [first, last]: (Token | undefined)[] = [];
  for (const token of tokensOf(source, form, features)) {
    const quoted = quotes.pass(token);
    const { kind, name: written } = token;
    if (kind === 'atom' && written !== '' && !written.startsWith(MARK) && bare(written) === name) {
      const opened = last?.kind === '(' || last?.kind === "#'" ? last : undefined;
      if (first?.kind === '(' && last?.kind === 'atom' && bare(last.name).startsWith('DEF')) definitions++;
      else uses.push({ index: (opened ?? token).start, called: opened !== undefined && !quoted });
    }
    [first, last] = [last, token];
  }
  return { uses, definitions };
}

/** Tells of each token of a text whether it is quoted. The tokens must be passed to it in order. */
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
