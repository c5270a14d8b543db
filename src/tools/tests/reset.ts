// Sets variables to the values in their files before a test run, because a load does not set a bound DEFVAR.

import { CallError } from '../../errors.ts';
import type { Image } from '../../image/image.ts';
import { toResult } from '../../kernel/outcome.ts';
import type { CallContext, Result, Tool } from '../../kernel/tool.ts';
import { isDefiner } from '../../source/definition.ts';
import { FormReader } from '../../source/form.ts';
import { codeName, partsOfName, unqualifiedName } from '../../source/qualified.ts';
import { treeOf } from '../../source/tree.ts';
import { callOptions } from '../calling.ts';
import { lispFiles, lookupBudget } from '../definitions/in-workspace.ts';
import { foundValue, isLookupFailure } from '../lookup.ts';
import type { NamedText, Places } from '../places.ts';
import type { TestDependencies } from './dependencies.ts';

/** Operators that define a variable, with the value after the name. */
const DEFINERS: readonly string[] = ['DEFVAR', 'DEFPARAMETER', 'DEFGLOBAL'];

/** Matches the standard operators that define no variable. Any other operator that begins with DEF may be a
 * macro for a DEFVAR. */
const OTHERS =
  /^DEF(?:UN|MACRO|GENERIC|METHOD|CLASS|STRUCT|TYPE|SETF|PACKAGE|CONSTANT|INE-(?:COMPILER-MACRO|CONDITION|METHOD-COMBINATION|MODIFY-MACRO|SETF-EXPANDER|SYMBOL-MACRO))$/;

/** Maximum number of variables with a similar name to search. */
const SIMILAR = 500;

const NOTHING_DONE = 'No variable was set, and no tests ran.';

/** The form that sets a variable. `home` is the package for reading the form. */
interface Setting {
  name: string;
  home: string;
  form: string;
}

/** Sets the variables NAMES with EVALUATING, the tool eval_form, so that history and journal record the
 * change. Returns a sentence for the answer, or the failed evaluation. Throws a CallError, before setting
 * any variable, when a definition is not found. */
export async function resetVariables(
  dependencies: TestDependencies,
  evaluating: Tool,
  names: readonly string[],
  context: CallContext,
): Promise<{ loadNotes: string } | { failed: Result }> {
  if (names.length === 0) return { loadNotes: '' };
  const settings: Setting[] = [];
  for (const name of names) settings.push(await settingOf(dependencies, name, context));
  const set: string[] = [];
  for (const { name, home, form } of settings) {
    const result = toResult(await evaluating.handler({ form, package: home }, context));
    if (result.failed) return { failed: { ...result, text: failureText(name, set, result.text) } };
    set.push(name);
  }
  return { loadNotes: `Set as the files say: ${set.join(', ')}.` };
}

function failureText(name: string, set: readonly string[], why: string): string {
  const before = set.length > 0 ? ` Set before: ${set.join(', ')}.` : '';
  return `No tests ran, because ${name} could not be set to what its file says.${before}\n\n${why}`;
}

async function settingOf(
  dependencies: TestDependencies,
  asked: string,
  context: CallContext,
): Promise<Setting> {
  const { image, places, workspace } = dependencies;
  const { symbol, files } = await variableNamed(image, places.root, asked, context);
  await places.prepare(files);
  const isOwn = ({ home }: NamedText) => home === partsOfName(symbol).home;
  const loaded = files.flatMap((file) => definitionsIn(file, symbol, places));
  const own = loaded.filter(isOwn);
  const all = own.length > 0 ? own : loaded;
  if (all.length === 0) {
    // SBCL has no file for a variable when its latest definition was evaluated.
    for await (const file of lispFiles(workspace, places, lookupBudget()))
      all.push(...definitionsIn(file, symbol, places).filter(isOwn));
  }
  // The last definition in a file is the effective one.
  const definition = all.findLast(({ operator }) => DEFINERS.includes(operator)) ?? all.at(-1);
  if (definition !== undefined && !definition.nested)
    return { name: symbol, home: definition.home, form: settingForm(symbol, definition) };
  const why = definition === undefined ? 'No file has' : 'Only a form within another has';
  throw new CallError(
    `${why} a DEFVAR or DEFPARAMETER that gives ${symbol} a value. ${NOTHING_DONE} Set it with eval_form, and leave it out of reset.`,
  );
}

/** Returns the definitions in FILE that give the variable SYMBOL a value. */
function definitionsIn(file: string, symbol: string, places: Places): (NamedText & { path: string })[] {
  return places
    .definitionsOf(file, unqualifiedName(symbol))
    .filter(({ operator, text }) => hasValue(operator, text))
    .map((definition) => ({ ...definition, path: file }));
}

function hasValue(operator: string, text: string): boolean {
  const [, , value, ...more] = [...new FormReader(treeOf(text)).forms()].at(-1)?.elements ?? [];
  if (value === undefined) return false;
  if (DEFINERS.includes(operator)) return true;
  return isDefiner(operator) && !OTHERS.test(operator) && more.every(({ isString }) => isString);
}

/** Returns the form that sets SYMBOL to the value in its definition, `text`. The image reads `text`, so
 * feature expressions and reader macros work. */
function settingForm(symbol: string, { text, path }: { text: string; path: string }): string {
  const name = codeName(symbol);
  const file = JSON.stringify(path);
  return `(setf ${name}
      (let* ((*load-truename* (sb-ext:parse-native-namestring ${file})) (*load-pathname* *load-truename*)
             (definition '${text}
             ))
        (if (and (eq (second definition) '${name}) (cddr definition))
            (eval (third definition))
            (error "This definition gives it no value: ~S" definition))))`;
}

interface Variable {
  symbol: string;
  files: string[];
}

/** Returns the variable that ASKED names. Without a package prefix it is that of the current package,
 * otherwise the only variable of this name. Throws a CallError when there is none, or when there are
 * several. ROOT is the workspace folder. */
async function variableNamed(
  image: Image,
  root: string,
  asked: string,
  context: CallContext,
): Promise<Variable> {
  const here = await variableAt(image, asked, context);
  if (here !== undefined) return here;
  const elsewhere = await variablesElsewhere(image, root, asked, context);
  const [only, ...others] = elsewhere;
  if (others.length > 0)
    throw new CallError(
      `${asked} names several variables: ${elsewhere.join(', ')}. ${NOTHING_DONE} Give reset one of these.`,
    );
  const found = only === undefined ? undefined : await variableAt(image, only, context);
  if (found !== undefined) return found;
  throw new CallError(
    `${asked} names no variable. ${NOTHING_DONE} Give reset names of variables with their packages, such as app::*table*.`,
  );
}

async function variableAt(image: Image, name: string, context: CallContext): Promise<Variable | undefined> {
  const lookup = { name, offset: 0, limit: 0 };
  const described = foundValue(await image.call('describe', lookup, callOptions(context)));
  if (isLookupFailure(described)) return undefined;
  const { symbol, things = [] } = described;
  const variable = things.find(({ nature }) => /^(?:SPECIAL|GLOBAL) VARIABLE$/.test(nature));
  const sources = variable?.sources ?? [];
  return variable && { symbol, files: [...new Set(sources.flatMap(({ file }) => file ?? []))] };
}

/** Returns the qualified names of all variables NAME (without package). Those defined below ROOT come
 * first. */
async function variablesElsewhere(
  image: Image,
  root: string,
  name: string,
  context: CallContext,
): Promise<string[]> {
  const pattern = name.trim().toUpperCase();
  if (pattern.includes(':')) return [];
  const search = { pattern, type: 'VARIABLE', roots: [root], offset: 0, limit: SIMILAR };
  const found = foundValue(await image.call('ranked-apropos', search, callOptions(context)));
  const rows = isLookupFailure(found) ? [] : (found.rows ?? []);
  return rows.filter(([, symbol]) => symbol === pattern).map(([home]) => codeName(`${home}::${pattern}`));
}
