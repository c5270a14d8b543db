// Checks whether the calls of a function fit a lambda list. SBCL's cross references and the source files say where the
// calls are.

import type { Caller, Place, WhoCallsData } from '../../image/wire/operations.ts';
import { type Callee, type CallMention, callMentionsIn } from '../../source/calls.ts';
import { type Argument, checkFit, type LambdaList } from '../../source/lambda-list.ts';
import { hasParts } from '../../source/parts.ts';
import type { Places } from '../places.ts';
import { holderAt, outsideUser } from './outside.ts';
import { compareSites, groupByForm, usedOf } from './sites.ts';

/** A call, or a use that may be a call. `at` is its place, `text` the source line there, `why` the reason why it is
 * listed. */
export interface CheckedCall {
  caller?: string;
  at: string;
  text: string;
  why?: string;
}

export interface CheckedCalls {
  /** Number of calls with known arguments. */
  calls: number;
  /** The calls, when there is no lambda list to check them against. */
  unchecked: CheckedCall[];
  /** The calls that do not fit the lambda list. */
  unfit: CheckedCall[];
  /** The uses that cannot be checked. */
  unknown: CheckedCall[];
  /** Calls in the searched files that SBCL's cross references lack. If there is a lambda list, only the calls that do
   * not fit it. */
  perhaps: CheckedCall[];
}

/** Places in which calls are searched, besides the recorded uses. */
export interface Elsewhere {
  files: readonly string[];
  /** Functions that contain inlined code with a call of the checked function. In each place, `description` is the name
   * of such a function. */
  naming: readonly Place[];
}

/** Checks whether the calls of a function fit the lambda list LIST. If LIST is undefined, only collects the calls.
 * FOUND has the callers that the image knows. Further calls are searched in the places ELSEWHERE. */
export function checkedCalls(
  found: WhoCallsData,
  elsewhere: Elsewhere,
  list: LambdaList | undefined,
  places: Places,
): CheckedCalls {
  return new Checks(found, list, places).check(found, elsewhere);
}

/** Maps indices of a file to the mentions of the function there. A mention is under the index of its start, and also
 * under the index of the function's name. Several mentions in a SETF form can have the same index. */
type Mentions = ReadonlyMap<number, readonly CallMention[]>;

/** Returns a list of all mentions in MENTIONS. A mention that is under two indices is in the list once. */
function distinctMentions(mentions: Mentions): CallMention[] {
  return [...new Set([...mentions.values()].flat())];
}

class Checks {
  readonly #callee: Callee;
  /** The name of the function if it is to be removed, which a missing lambda list means here. Then its calls of itself
   * are removed too, so they are not reported. Undefined for a generic function, whose methods stay. */
  readonly #removed: string | undefined;
  readonly #list: LambdaList | undefined;
  readonly #places: Places;
  /** Maps nicknames of packages to names. */
  readonly #packages: Readonly<Record<string, string>>;
  readonly #files = new Map<string, Mentions>();
  /** The mentions that are known to be uses. `check` looks at the other mentions last. */
  readonly #checked = new Set<CallMention>();
  /** The callers in each top-level form. The key is the file of the form and its start index. */
  readonly #callers = new Map<string, Set<string>>();
  readonly #reported = new Set<string>();
  readonly #result: CheckedCalls = { calls: 0, unchecked: [], unfit: [], unknown: [], perhaps: [] };

  constructor(found: WhoCallsData, list: LambdaList | undefined, places: Places) {
    const stays = list !== undefined || found.natures?.includes('GENERIC-FUNCTION');
    this.#removed = stays ? undefined : found.name;
    this.#callee = { ...usedOf(found), macro: found.natures?.includes('MACRO') };
    this.#list = list;
    this.#places = places;
    this.#packages = found.packages ?? {};
  }

  /** Checks the calls that SBCL has recorded, and then the unrecorded calls in FILES and in the files with recorded
   * calls. Each step puts the mentions that it checks into #checked, and so leaves the others to the next step. */
  check({ rows = [], outside = [], unrecorded }: WhoCallsData, { files, naming }: Elsewhere): CheckedCalls {
    for (const { name = '', sites = [] } of rows)
      for (const uses of groupByForm(sites)) this.#recordedUses(name, uses);
    const known = new Set(rows.map(({ name = '' }) => name));
    for (const place of naming) this.#inlined(place, known);
    // This puts the mentions into #files, for the steps that follow.
    for (const file of files) this.#mentionsIn(file);
    if (unrecorded === 'inline') this.#furtherCalls();
    for (const user of outside) this.#topLevelCalls(user);
    for (const [file, mention] of this.#uncheckedMentions()) this.#notRecorded(file, mention);
    for (const user of outside) this.#data(user);
    sortBySite(this.#result.unchecked);
    sortBySite(this.#result.unfit);
    // Uses with a line of text come first, because a human can look at these.
    this.#result.unknown.sort((one, other) => Number(one.text === '') - Number(other.text === ''));
    return this.#result;
  }

  /** Returns a map from indexes in the text of FILE to the calls and mentions of the callee there; undefined when FILE
   * cannot be read. */
  #mentionsIn(file: string): Mentions | undefined {
    const cached = this.#files.get(file);
    if (cached) return cached;
    const text = this.#places.sourceText(file);
    if (text === undefined) return undefined;
    const found = new Map<number, CallMention[]>();
    for (const mention of callMentionsIn(text, this.#places.features, this.#callee)) {
      for (const index of new Set([mention.start, mention.also ?? mention.start]))
        found.set(index, [...(found.get(index) ?? []), mention]);
    }
    this.#files.set(file, found);
    return found;
  }

  /** Yields the mentions in all files read so far that were not checked yet, each with its file. */
  *#uncheckedMentions(): Generator<[file: string, mention: CallMention], void> {
    for (const [file, mentions] of this.#files)
      for (const mention of distinctMentions(mentions))
        if (!this.#checked.has(mention)) yield [file, mention];
  }

  /** Checks the USES by CALLER in one form. If the form has changed since it was loaded, the recorded places are wrong.
   * Then `check` looks for the callee's name in the text of the file instead. */
  #recordedUses(caller: string, uses: readonly Place[]): void {
    const { file, method } = uses[0] ?? {};
    const mentions = file === undefined ? undefined : this.#mentionsIn(file);
    const found = this.#places.spots(uses, this.#callee, { name: caller, method });
    if (file === undefined || mentions === undefined || found === undefined) {
      this.#unknown({ caller, at: file ?? 'no source', text: '' }, 'its source cannot be read');
      return;
    }
    const { start, same, changed, spots } = found;
    if (start === undefined || !same) {
      const why = changed ? 'the file changed since it was loaded' : 'its form is not found in the file';
      this.#unknown({ caller, at: this.#places.fileName(file), text: '' }, why);
      return;
    }
    const candidates = spots.flatMap(({ starts, sure }) => {
      // The text does not show the use, so START, the index of the whole form, stands for it.
      if (starts.length === 0) return { index: start, doubt: undefined };
      return starts.map((index) => ({ index, doubt: sure ? undefined : starts.length }));
    });
    for (const { index, doubt } of candidates.sort((one, other) => one.index - other.index)) {
      const atIndex = mentions.get(index);
      if (atIndex === undefined) this.#checkInExpansion(caller, file, index, mentions);
      for (const mention of atIndex ?? [])
        if (!this.#checked.has(mention)) this.#checkMention(caller, file, mention, doubt);
    }
  }

  /** Reports that the function at PLACE cannot be checked, because its call comes from inlined code. Leaves out
   * functions in KNOWN. */
  #inlined(place: Place, known: ReadonlySet<string>): void {
    const { description: caller = '', file } = place;
    if (file === undefined || known.has(caller)) return;
    this.#unknown({ caller, ...this.#places.site(place) }, 'in code that was inlined from another function');
  }

  /** When a form calls an inlined function several times, SBCL records only the first call. Checks the other calls,
   * which are found in the text of the form. If the form has several callers, it is unknown which of them makes these
   * calls, so they are left to #notRecorded. */
  #furtherCalls(): void {
    for (const [file, mention] of this.#uncheckedMentions()) {
      const [caller, ...more] = this.#callers.get(`${file} ${mention.top}`) ?? [];
      if (caller !== undefined && more.length === 0 && mention.args !== undefined)
        this.#checkMention(caller, file, mention);
    }
  }

  /** Checks the calls in USER, a top-level form. Does nothing when this form has changed since the image loaded it,
   * or when it is not certain that the form calls the function. */
  #topLevelCalls(user: Caller): void {
    const { file, possible } = user;
    const found = file === undefined || possible ? undefined : this.#places.formOf(user);
    if (file === undefined || !found?.same) return;
    const top = found.form.start;
    for (const mention of distinctMentions(this.#mentionsIn(file) ?? new Map()))
      if (mention.top === top && mention.args && !this.#checked.has(mention))
        this.#checkMention(this.#holder(file, mention), file, mention);
  }

  /** Reports the places where USER, a top-level form, has the function's name in data. Code that reads this data can
   * call the function. */
  #data(user: Caller): void {
    const { file = '', possible } = user;
    const form = possible ? this.#places.formOf(user)?.form : undefined;
    const { name, setf = false } = this.#callee;
    if (form === undefined) return;
    // This form defines the function, so it contains the name anyway.
    if (this.#places.definitionsIn(file, form.start).some((each) => each.name === name)) return;
    const query = { used: name, setf, packages: this.#packages, sites: true, variable: false };
    const described = outsideUser(user, query, this.#places, new Set());
    // In a form such as DEFCLASS, the parts without code only name accessors.
    if (described === undefined || (hasParts(form.operator) && !described.part)) return;
    const { calls: _, ...lists } = this.#result;
    const known = new Set(Object.values(lists).flatMap((list) => list.map(({ at }) => at)));
    for (const site of described.sites ?? [])
      if (!known.has(site.at))
        this.#unknown(
          { caller: described.name, ...site },
          'named in data, which code may use to call the function',
        );
  }

  /** Reports a use in the macro expansion of the form at INDEX of FILE. When that form is a whole definition, SBCL does
   * not know the place of the use, so the calls in the definition are checked later. */
  #checkInExpansion(caller: string, file: string, index: number, mentions: Mentions): void {
    const distinct = distinctMentions(mentions);
    // The expansion can call a function that the form only passes as an argument, for example to MAPCAR.
    const top = distinct.findLast((mention) => mention.top <= index)?.top;
    const passed = distinct.find(
      (mention) => mention.how && mention.top === top && mention.start > index && !this.#checked.has(mention),
    );
    const isWholeDefinition = distinct.some((mention) => mention.top === index && mention.args);
    if (passed) this.#checkMention(caller, file, passed);
    else if (!isWholeDefinition)
      this.#unknown({ caller, ...this.#places.siteAt(file, index) }, 'in an expansion');
  }

  /** Checks MENTION, a call by CALLER. CANDIDATE_COUNT is set when SBCL recorded fewer uses of the callee
   * than the form has mentions of it. It is the number of these mentions, and MENTION may not be a recorded use. */
  #checkMention(caller: string, file: string, mention: CallMention, candidateCount?: number): void {
    const { top, start, args, how } = mention;
    this.#checked.add(mention);
    if (caller === this.#removed) return;
    const key = `${file} ${top}`;
    this.#callers.set(key, (this.#callers.get(key) ?? new Set()).add(caller));
    const row = { caller, ...this.#places.siteAt(file, start) };
    const fits = args === undefined || this.#list === undefined || this.#fit(this.#list, args);
    if (args === undefined) this.#unknown(row, how ?? 'not a call');
    else if (fits === undefined) this.#unknown(row, 'its arguments are computed');
    else if (fits !== true && candidateCount !== undefined)
      this.#unknown(row, `one of ${candidateCount} candidates for a recorded use: ${fits}`);
    else {
      this.#result.calls++;
      if (this.#list === undefined) this.#report(this.#result.unchecked, row);
      else if (fits !== true) this.#report(this.#result.unfit, { ...row, why: fits });
    }
  }

  /** Reports MENTION, which SBCL has not recorded, if it can be a call that does not fit the lambda list. */
  #notRecorded(file: string, mention: CallMention): void {
    const { start, args, how } = mention;
    const caller = this.#holder(file, mention);
    if (caller === this.#removed) return;
    // SBCL records no uses of macros in top-level forms, so a form that looks like a macro call counts as one.
    if (this.#callee.macro && args !== undefined && !how) {
      this.#checkMention(caller, file, mention);
      return;
    }
    const row = { caller, ...this.#places.siteAt(file, start) };
    if (how) this.#unknown(row, how);
    const fits = args && this.#list && this.#fit(this.#list, args);
    if (typeof fits === 'string') this.#report(this.#result.perhaps, { ...row, why: fits });
    if (args !== undefined && this.#list === undefined) this.#report(this.#result.perhaps, row);
  }

  #fit(list: LambdaList, args: readonly Argument[]) {
    return checkFit(list, args, this.#callee.macro === true);
  }

  #holder(file: string, { top, start }: CallMention): string {
    const forms = this.#places.forms(file);
    return (forms && holderAt(forms, top, start, this.#packages)) ?? '';
  }

  #unknown(row: CheckedCall, why: string): void {
    this.#report(this.#result.unknown, { ...row, why });
  }

  #report(rows: CheckedCall[], row: CheckedCall): void {
    const key = `${row.caller} ${row.at} ${row.why}`;
    if (!this.#reported.has(key)) rows.push(row);
    this.#reported.add(key);
  }
}

/** Groups ROWS by caller, and sorts the rows of each caller by place. SBCL returns them in another order when the code
 * of one call is inlined into another. */
function sortBySite(rows: CheckedCall[]): void {
  const firsts = new Map<string | undefined, number>();
  for (const [index, { caller }] of rows.entries()) if (!firsts.has(caller)) firsts.set(caller, index);
  const rank = ({ caller }: CheckedCall) => firsts.get(caller) ?? 0;
  rows.sort((one, other) => rank(one) - rank(other) || compareSites(one.at, other.at));
}
