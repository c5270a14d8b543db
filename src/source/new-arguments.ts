/** Collects the arguments of a rewritten call, and refuses the call when a required argument would be missing. In the
 * texts below, `old` and `new` are the two calls from which callPatternOf in call-rewriting.ts makes a pattern. That
 * file also adds the arguments: it calls one method of NewArguments for each argument in `new`, and all() at the
 * end. */

import type { Mentioned } from './calls.ts';
import type { Form } from './form.ts';
import type { LambdaList } from './lambda-list.ts';
import { PACKAGE_MARKER } from './lexer.ts';

type Obstacle =
  | "called by FUNCALL, but 'new' calls another function"
  | 'a comment, #+, #- or a dot stands between its arguments'
  | "it has fewer arguments than 'old'"
  | "it has more arguments than 'old'"
  | 'its keywords are not written out'
  | "it has a keyword that 'old' lacks"
  | "it lacks an argument that 'new' needs"
  | "it lacks an argument that 'new' may need"
  | "'new' gives it too few arguments";

/** Why a mention of a function is not rewritten. */
export interface Reason {
  why: Obstacle | Mentioned;
  /** The argument or keyword that the reason refers to. */
  what?: string | undefined;
  /** The name of the function whose new definition must be loaded before the call can be rewritten; absent when loading
   * would not help. */
  loading?: string;
  /** The number of arguments that the call has before its keywords, and the number that the function requires there. */
  counts?: { given: number; required: number };
}

/** The reason why a call is not rewritten. */
export class Unfit extends Error {
  readonly reason: Reason;

  constructor(why: Reason['why'], more: Omit<Reason, 'why'> = {}) {
    super(why);
    this.reason = { why, ...more };
  }
}

/** An argument of a new call. `form` is the argument's form in the old call, if it has one. */
export interface Argument {
  text: string;
  form?: Form;
}

/** The function that is called after a call was rewritten. */
export interface NewFunction {
  name: string;
  /** The lambda list; undefined when it is not known. */
  list: LambdaList | undefined;
  /** True when the old call calls the same function. */
  same: boolean;
}

/** Returns true when FORM is a keyword such as :name. */
export function isKeyword(form: Form): boolean {
  return form.name?.startsWith(PACKAGE_MARKER) === true;
}

/** The arguments of a new call. They are added in their order. */
export class NewArguments {
  readonly #callee: NewFunction;
  readonly #added: Argument[] = [];
  /** The last keyword, until its value is added. */
  #pendingKeyword: string | undefined;
  /** True when the last argument is a keyword that the function takes as a value. */
  #endsInKeyword = false;
  /** The first parameter that was left out. */
  #omitted: string | undefined;
  /** The number of arguments before the first keyword; undefined until a keyword is added. */
  #positionalCount: number | undefined;

  constructor(callee: NewFunction) {
    this.#callee = callee;
  }

  /** Adds the keyword FORM, which is argument number NTH (0-based) of the pattern for the new call. If the function
   * would not take FORM as a keyword there, adds it as a value. */
  addKeyword(form: Form, nth: number): void {
    if (this.#pendingKeyword === undefined && this.#isKey(form, nth)) this.#pendingKeyword = form.text;
    else {
      this.add({ text: form.text });
      this.#endsInKeyword = true;
    }
  }

  /** Adds ARGUMENT. Throws an Unfit when a parameter before it was left out. */
  add(argument: Argument): void {
    this.#endsInKeyword = false;
    // Without the omitted argument, ARGUMENT would move into its place.
    if (this.#omitted !== undefined) throw lacking(this.#omitted);
    if (this.#pendingKeyword !== undefined) {
      this.#positionalCount ??= this.#added.length;
      this.#added.push({ text: this.#pendingKeyword });
      this.#pendingKeyword = undefined;
    }
    this.#added.push(argument);
  }

  /** Adds FORMS, the arguments for which the &rest parameter PARAMETER stands. TEXT_OF returns the text of a form.
   * If FORMS is empty, also leaves out a keyword that is directly before PARAMETER in the pattern of the new call. */
  addRest(parameter: string, forms: readonly Form[], textOf: (form: Form) => string): void {
    if (forms.length === 0 && this.#pendingKeyword !== undefined) {
      // If the lambda list is unknown, the keyword may be a positional argument.
      if (this.#callee.list === undefined) throw perhapsLacking(parameter, this.#callee.name);
      this.#pendingKeyword = undefined;
    }
    for (const form of forms) {
      if (this.#pendingKeyword === undefined && this.#isKey(form, this.#added.length))
        this.#positionalCount ??= this.#added.length;
      this.add({ text: textOf(form), form });
    }
  }

  /** Leaves out PARAMETER, for which the call has no argument. If PARAMETER is the value of a keyword, the keyword is
   * left out too. Throws an Unfit when the function requires PARAMETER. */
  omit(parameter: string): void {
    const { name, list, same } = this.#callee;
    if (this.#pendingKeyword !== undefined) {
      // If the lambda list is unknown, the keyword and PARAMETER may be two positional arguments.
      if (list === undefined && !same) throw perhapsLacking(parameter, name);
      this.#pendingKeyword = undefined;
      return;
    }
    const place = this.#added.length;
    const isOptional = list && place >= list.required && place < list.required + list.optional;
    // The function may have been changed so that it takes the last argument, a keyword, as the name of a keyword
    // argument. This keyword would lack its value if PARAMETER was left out.
    const isDoubtful = same && this.#endsInKeyword;
    if (list !== undefined && (!isOptional || isDoubtful)) throw lacking(parameter);
    this.#omitted ??= parameter;
  }

  /** Returns all arguments. Throws an Unfit when the function requires more arguments. */
  all(): readonly Argument[] {
    const { name, list } = this.#callee;
    if (this.#omitted !== undefined && list === undefined) throw perhapsLacking(this.#omitted, name);
    // A keyword that comes last has no value.
    if (this.#pendingKeyword !== undefined) this.#added.push({ text: this.#pendingKeyword });
    const given = this.#positionalCount ?? this.#added.length;
    if (list !== undefined && given < list.required) {
      const counts = { given, required: list.required };
      throw new Unfit("'new' gives it too few arguments", { loading: name, counts });
    }
    return this.#added;
  }

  /** Returns true when FORM, argument NTH, is a keyword of the function and not a value. */
  #isKey(form: Form, nth: number): boolean {
    if (!isKeyword(form)) return false;
    const { list } = this.#callee;
    if (list === undefined || list.keys?.includes(form.symbolName)) return true;
    return list.otherKeys && nth >= list.required + list.optional;
  }
}

function lacking(parameter: string): Unfit {
  return new Unfit("it lacks an argument that 'new' needs", { what: parameter });
}

function perhapsLacking(parameter: string, name: string): Unfit {
  return new Unfit("it lacks an argument that 'new' may need", { what: parameter, loading: name });
}
