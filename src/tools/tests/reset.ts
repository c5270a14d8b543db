// Sets variables, before tests run, to the values that their files give them. A load does not do this, because DEFVAR
// does not set a variable that has a value.

import { CallError } from '../../errors.ts';
import type { Image } from '../../image/image.ts';
import { toResult } from '../../kernel/outcome.ts';
import { joinSections } from '../../kernel/reply.ts';
import type { CallContext, Result, Tool } from '../../kernel/tool.ts';
import { isDefiner } from '../../source/definition.ts';
import { FormReader } from '../../source/form.ts';
import { codeName, partsOfName, unqualifiedName } from '../../source/qualified.ts';
import { treeOf } from '../../source/tree.ts';
import { callOptions } from '../calling.ts';
import { lispFiles, lookupBudget, PARTIAL_NOTE } from '../definitions/in-workspace.ts';
import { foundValue, isLookupFailure } from '../lookup.ts';
import type { NamedText, Places } from '../places.ts';
import type { TestDependencies } from './dependencies.ts';

/** Names of operators that define a variable and have its value after its name. */
const DEFINERS: readonly string[] = ['DEFVAR', 'DEFPARAMETER', 'DEFGLOBAL'];

/** Matches the standard operators that do not define a variable. Other operators whose names begin with DEF can be
 * macros that expand to DEFVAR. */
const NO_VARIABLE =
  /^DEF(?:UN|MACRO|GENERIC|METHOD|CLASS|STRUCT|TYPE|SETF|PACKAGE|CONSTANT|INE-(?:COMPILER-MACRO|CONDITION|METHOD-COMBINATION|MODIFY-MACRO|SETF-EXPANDER|SYMBOL-MACRO))$/;

/** Maximum number of variables with similar names that are read. */
const SIMILAR_LIMIT = 500;

const NOTHING_DONE = 'No variable was set, and no tests ran.';

/** The form that sets a variable. `home` is the package in which the form is read. */
interface Setting {
  name: string;
  home: string;
  form: string;
}

/** Sets the variables NAMES by means of EVALUATING, the tool eval_form, so that the history and the journal record
 * this. Returns a sentence for the answer or, when an evaluation fails, its result. Throws a CallError when a
 * definition is not found; then no variable was set. */
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
  const before = set.length > 0 ? ` Already set: ${set.join(', ')}.` : '';
  return `No tests ran, because ${name} could not be set to the value in its file.${before}\n\n${why}`;
}

async function settingOf(
  dependencies: TestDependencies,
  asked: string,
  context: CallContext,
): Promise<Setting> {
  const { image, places, workspace } = dependencies;
  const { symbol, files } = await variableNamed(image, places.root, asked, context);
  await places.prepare(files);
  // `home` is the current package at the definition. A file can also define a symbol that this package imports.
  const isOwn = ({ home }: NamedText) => home === partsOfName(symbol).home;
  const loaded = files.flatMap((file) => definitionsIn(file, symbol, places));
  const own = loaded.filter(isOwn);
  const all = own.length > 0 ? own : loaded;
  const budget = lookupBudget();
  if (all.length === 0) {
    // If the last definition of a variable was evaluated, SBCL knows no file for it, so all files are searched.
    for await (const file of lispFiles(workspace, places, budget))
      all.push(...definitionsIn(file, symbol, places).filter(isOwn));
  }
  // If a file has several definitions, the last one is in effect.
  const definition = all.findLast(({ operator }) => DEFINERS.includes(operator)) ?? all.at(-1);
  if (definition !== undefined && !definition.nested)
    return { name: symbol, home: definition.home, form: settingForm(symbol, definition) };
  const why = definition === undefined ? 'No file has' : 'Only a nested form has';
  const text = `${why} a DEFVAR or DEFPARAMETER that gives ${symbol} a value. ${NOTHING_DONE} Set it with eval_form, and leave it out of parameter 'reset'.`;
  throw new CallError(joinSections([text, budget.exceeded && PARTIAL_NOTE]));
}

/** Returns the definitions in FILE that give a value to the variable SYMBOL. */
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
  return isDefiner(operator) && !NO_VARIABLE.test(operator) && more.every(({ isString }) => isString);
}

/** Returns a form that sets SYMBOL to the value that its definition, `text`, gives it. The image reads `text` when it
 * evaluates the form, so that feature expressions and reader macros work. */
function settingForm(symbol: string, { text, path }: { text: string; path: string }): string {
  const name = codeName(symbol);
  const file = JSON.stringify(path);
  return `(setf ${name}
      (let* ((*load-truename* (sb-ext:parse-native-namestring ${file})) (*load-pathname* *load-truename*)
             (definition '${text}
             ))
        (if (and (eq (second definition) '${name}) (cddr definition))
            (eval (third definition))
            (error "This definition gives the variable no value: ~S" definition))))`;
}

interface Variable {
  symbol: string;
  files: string[];
}

/** Returns the variable that ASKED names. If ASKED has no package prefix, it is the variable in the current package or,
 * if there is none, the only variable with this name. Throws a CallError when there is no such variable, or when there
 * are several. ROOT is the folder of the workspace. */
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
      `${asked} names several variables: ${elsewhere.join(', ')}. ${NOTHING_DONE} Put one of these in parameter 'reset'.`,
    );
  const found = only === undefined ? undefined : await variableAt(image, only, context);
  if (found !== undefined) return found;
  throw new CallError(
    `${asked} names no variable. ${NOTHING_DONE} In parameter 'reset', give names with packages, such as app::*table*.`,
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

/** Returns the names, with packages, of the variables with the name NAME in all packages; [] when NAME has a package
 * prefix. Variables that are defined below ROOT come first. */
async function variablesElsewhere(
  image: Image,
  root: string,
  name: string,
  context: CallContext,
): Promise<string[]> {
  const pattern = name.trim().toUpperCase();
  if (pattern.includes(':')) return [];
  const search = { pattern, type: 'VARIABLE', roots: [root], offset: 0, limit: SIMILAR_LIMIT };
  const found = foundValue(await image.call('ranked-apropos', search, callOptions(context)));
  const rows = isLookupFailure(found) ? [] : (found.rows ?? []);
  return rows.filter(([, symbol]) => symbol === pattern).map(([home]) => codeName(`${home}::${pattern}`));
}
