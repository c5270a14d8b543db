// Finds the lambda list of the function that calls will call after a rewrite. The rewrite can replace the function by
// another one.

import type { Image } from '../../image/image.ts';
import type { ImpactData } from '../../image/wire/operations.ts';
import type { CallContext } from '../../kernel/tool.ts';
import { type CallPattern, isMeantFor, keepsOperator, type ListAt } from '../../source/call-rewriting.ts';
import type { Callee, CallMention } from '../../source/calls.ts';
import { definitionDetails } from '../../source/definition-details.ts';
import { namedForms } from '../../source/definitions.ts';
import { elementsOf, nameOf } from '../../source/form.ts';
import { type LambdaList, parsedLambdaList } from '../../source/lambda-list.ts';
import { qualified } from '../../source/qualified.ts';
import type { TopLevelForms } from '../../source/top-level.ts';
import { callOptions } from '../calling.ts';
import { foundValue, isLookupFailure } from '../lookup.ts';
import type { PlannedFile } from './edited-files.ts';

/** The function whose calls are rewritten, with the data of the image about this function. */
type Old = Callee & { facts: ImpactData };

/** Finds the lambda list of the function that rewritten calls will call. The name of this function in the pattern can
 * be read in several packages. It then means several functions, each with its own lambda list. */
export class CalledLists {
  readonly #image: Image;
  readonly #context: CallContext;
  readonly #pattern: CallPattern;
  readonly #old: Old;
  /** The lambda lists of the functions that the other edits of this call define. The keys are `PACKAGE::NAME`. */
  readonly #edited: ReadonlyMap<string, LambdaList>;
  /** The lambda lists found so far. The keys are the packages in which the name of the function is read. */
  readonly #known = new Map<string, LambdaList | undefined>();

  constructor(
    image: Image,
    defining: readonly PlannedFile[],
    pattern: CallPattern,
    old: Old,
    context: CallContext,
  ) {
    this.#image = image;
    this.#context = context;
    this.#pattern = pattern;
    this.#old = old;
    this.#edited = new Map(defining.flatMap(functionsIn));
  }

  /** MENTIONS are the calls to rewrite in FORMS, the forms of a file. Returns a function that takes the start of a
   * top-level form, and returns the lambda list of the function that the rewritten calls in it will call. */
  async inFile(forms: TopLevelForms, mentions: readonly CallMention[]): Promise<ListAt> {
    if (keepsOperator(this.#pattern)) {
      const list = this.#ofOld();
      return () => list;
    }
    for (const home of new Set(mentions.map(({ top }) => forms.homeAt(top))))
      if (!this.#known.has(home)) this.#known.set(home, await this.#readIn(home));
    return (top) => this.#known.get(forms.homeAt(top));
  }

  #ofOld(): LambdaList | undefined {
    const { facts, name, packages = [] } = this.#old;
    for (const home of packages) {
      const edited = this.#edited.get(qualified(name, home));
      if (edited !== undefined) return edited;
    }
    const list = listIn(facts);
    return list && isMeantFor(this.#pattern, list) ? list : undefined;
  }

  async #readIn(home: string): Promise<LambdaList | undefined> {
    const { first } = this.#pattern.replacement;
    if (first?.notation !== 'atom' || !first.name) return undefined;
    const asked = { name: first.text, package: home, limit: 1 };
    const found = foundValue(await this.#image.call('arglist', asked, callOptions(this.#context)));
    const facts = isLookupFailure(found) ? undefined : found;
    return (
      this.#edited.get(qualified(first.name, home)) ??
      (facts && (this.#edited.get(facts.name) ?? listIn(facts)))
    );
  }
}

/** Returns the lambda list that the image reported for a function. Returns undefined for a compiler macro, and when
 * SBCL keeps no lambda list of the function. */
function listIn({ kind, arglist, accepted = arglist }: Pick<ImpactData, 'kind' | 'arglist' | 'accepted'>) {
  return kind === 'COMPILER MACRO' || accepted === undefined ? undefined : parsedLambdaList(accepted);
}

const DEFINERS: readonly string[] = ['DEFUN', 'DEFMACRO', 'DEFGENERIC'];

/** Returns the names and lambda lists of the functions and macros that the changed forms of a file define. */
function functionsIn({ newForms, changed }: PlannedFile): [name: string, list: LambdaList][] {
  return changed.flatMap(({ start }) => {
    const whole = newForms.formFrom(start);
    return [...(whole ? namedForms(whole) : [])].flatMap(({ form }): [string, LambdaList][] => {
      const { operator = '', setf, lambdaList } = definitionDetails(form) ?? {};
      if (lambdaList === undefined || setf || !DEFINERS.includes(operator)) return [];
      // The methods of a generic function can take keywords that it does not name.
      const otherKeys = lambdaList.otherKeys || (operator === 'DEFGENERIC' && lambdaList.keys !== undefined);
      const name = qualified(nameOf(elementsOf(form)[1]), newForms.homeAt(start));
      return [[name, { ...lambdaList, otherKeys }]];
    });
  });
}
