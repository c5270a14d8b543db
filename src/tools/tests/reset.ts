// Decides how variables get, before tests run, the value that their definitions in files give them: a load does not set a
// DEFVAR that is bound.

import { CallError } from '../../errors.ts';
import type { Image } from '../../image/image.ts';
import { toResult } from '../../kernel/outcome.ts';
import type { CallContext, Result, Tool } from '../../kernel/tool.ts';
import { bareOf, partsOfName } from '../../source/qualified.ts';
import { treeOf } from '../../source/tree.ts';
import { callOptions } from '../calling.ts';
import { foundValue, isLookupFailure } from '../lookup.ts';
import type { Grounds } from './grounds.ts';

/** What has the value of a variable behind its name. */
const DEFINERS: readonly string[] = ['DEFVAR', 'DEFPARAMETER', 'DEFGLOBAL'];

/** Variables with a name like the one that is asked for that are looked through. */
const SIMILAR = 500;

/** What is said besides when a variable cannot be set. */
const NOTHING_DONE = 'No variable was set, and no tests ran.';

/** A variable, and the text of the value that its definition gives it, which is read in the package HOME. */
interface Setting {
  name: string;
  home: string;
  value: string;
}

/** Gives each variable of NAMES its value by EVALUATING, a tool, so that it is recorded as evaluated forms are. Returns what is
 *  told of that, or the result of a form that failed. Throws a CallError when it is not known how one is defined. */
export async function resetVariables(
  grounds: Grounds,
  evaluating: Tool,
  names: readonly string[],
  context: CallContext,
): Promise<{ said: string } | { failed: Result }> {
  const settings: Setting[] = [];
  for (const name of names) settings.push(await settingOf(grounds, name, context));
  for (const { name, home, value } of settings) {
    const args = { form: `(setf ${name} ${value}\n)`, package: home };
    const result = toResult(await evaluating.handler(args, context));
    if (!result.failed) continue;
    const text = `No tests ran, because ${name} could not be set to what its file says.\n\n${result.text}`;
    return { failed: { ...result, text } };
  }
  if (settings.length === 0) return { said: '' };
  return { said: `Set as the files say: ${settings.map(({ name }) => name).join(', ')}.` };
}

/** Returns how the variable that ASKED names is set. Throws a CallError when that is not known. */
async function settingOf({ image, places }: Grounds, asked: string, context: CallContext): Promise<Setting> {
  const { symbol, files } = await variableNamed(image, places.root, asked, context);
  await places.prepare(files);
  const found = files
    .flatMap((file) => places.definitionsOf(file, bareOf(symbol)))
    .filter(({ operator }) => DEFINERS.includes(operator));
  const own = found.filter(({ home }) => home === partsOfName(symbol).home);
  const [definition] = own.length > 0 ? own : found;
  const value = valueText(definition?.text ?? '');
  if (definition !== undefined && value !== undefined) return { name: symbol, home: definition.home, value };
  throw new CallError(
    `No file has a DEFVAR or DEFPARAMETER that gives ${symbol} a value. Set it with eval_form, and leave it out of reset. ${NOTHING_DONE}`,
  );
}

/** Returns the text of the value in TEXT, a definition of a variable; undefined when there is none. Several parts under feature
 *  expressions are all of it. */
function valueText(text: string): string | undefined {
  const form = treeOf(text).top.at(-1);
  const [, name, ...rest] = form?.items ?? [];
  if (form === undefined || name === undefined || rest.length === 0) return undefined;
  const last = rest.length > 1 ? rest.at(-1) : undefined;
  return text.slice(name.end, last?.kind === 'string' ? last.start : form.end - 1).trim();
}

/** A variable, and the files that define it. */
interface Variable {
  symbol: string;
  files: string[];
}

/** Returns the variable that ASKED names: in any package when it is written without one and the current package has none; those
 *  of files below ROOT are found first. Throws a CallError when there is none, or are several. */
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
      `${asked} names several variables: ${elsewhere.join(', ')}. Give reset the one that is meant. ${NOTHING_DONE}`,
    );
  const found = only === undefined ? undefined : await variableAt(image, only, context);
  if (found !== undefined) return found;
  throw new CallError(
    `${asked} names no variable. Give reset names of variables with their packages, such as app::*table*. ${NOTHING_DONE}`,
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

/** Returns the variables that are called NAME, which has no package, in any; those of files below ROOT first. */
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
  return rows.filter(([, symbol]) => symbol === pattern).map(([home]) => `${home}::${pattern}`);
}
