// Edits one setting in the text of a configuration file, and checks that nothing else changes.

import { isDeepStrictEqual } from 'node:util';
import { messageOf, SetupError } from '../errors.ts';
import { compareEntry, type Standing } from './entry.ts';
import {
  type Data,
  type Format,
  isEmpty,
  type Launch,
  type Setting,
  valueAtPath,
  withValue,
} from './settings.ts';

async function formatOf({ format }: Pick<Setting, 'format'>): Promise<Format> {
  return format === 'toml' ? (await import('./toml.ts')).TOML : (await import('./jsonc.ts')).JSONC;
}

/** Returns the data in TEXT, the text of SETTING's file. Throws a SetupError when TEXT cannot be parsed. */
export async function dataOf(
  setting: Pick<Setting, 'file' | 'format'>,
  text: string | undefined,
): Promise<Data> {
  const format = await formatOf(setting);
  try {
    return format.parse(text ?? '');
  } catch (error) {
    const kind = setting.format === 'toml' ? 'TOML' : 'JSON';
    const [why = ''] = messageOf(error).split('\n');
    throw new SetupError(
      `${setting.file} is not valid ${kind} (${why}), and was not changed. Correct it, and run this again.`,
    );
  }
}

/** The state of a setting in its file. `found` is its current value. `text` is the text of the file after the setting
 * is applied. */
export interface Applied {
  standing: Standing;
  found: unknown;
  text: string | undefined;
}

/** Puts the value that SETTING has for LAUNCH into TEXT, the text of SETTING's file. Returns the new text, and what
 * TEXT had before. Does not change an entry that install did not write. Throws a SetupError when TEXT cannot be parsed
 * or edited. */
export async function apply(setting: Setting, text: string | undefined, launch: Launch): Promise<Applied> {
  const data = await dataOf(setting, text);
  const { path } = setting;
  const found = valueAtPath(data, path);
  if (setting.kind === 'permission') {
    const words = Array.isArray(found) ? (found as unknown[]) : [];
    const missing = setting.words.filter((word) => !words.includes(word));
    if (missing.length === 0) return { standing: 'same', found, text };
    const all = [...words, ...missing] as string[];
    const edit = (format: Format) =>
      found === undefined
        ? format.set(text ?? '', path, all)
        : missing.reduce((whole, word) => format.add(whole, path, word), text ?? '');
    return { standing: 'absent', found, text: await proven(setting, edit, withValue(data, path, all)) };
  }
  const { standing, wanted } = compareEntry(found, setting.entry, launch);
  if (standing === 'same' || standing === 'foreign') return { standing, found, text };
  const edit = (format: Format) => format.set(text ?? '', path, wanted);
  return { standing, found, text: await proven(setting, edit, withValue(data, path, wanted)) };
}

/** Returns TEXT without SETTING, and without containers that become empty. Keeps the containers that ORIGINAL, the text
 * before install, has. Returns undefined when install created the file and nothing else is in it. */
export async function withdraw(
  setting: Setting,
  text: string,
  original: string | undefined,
): Promise<string | undefined> {
  const data = await dataOf(setting, text);
  const found = valueAtPath(data, setting.path);
  if (found === undefined) return text;
  const words = setting.kind === 'permission' && Array.isArray(found) ? (found as unknown[]) : undefined;
  // The indices are in descending order, so that removing an element does not change the indices that follow.
  const places = words?.flatMap((word, index) => (isOurs(setting, word) ? [index] : [])).reverse();
  if (places?.length === 0) return text;
  const rest = words?.filter((word) => !isOurs(setting, word));
  const settingPaths = places?.map((place) => [...setting.path, place]) ?? [setting.path];
  const edit = (format: Format) =>
    settingPaths.reduce((whole, settingPath) => format.remove(whole, settingPath), text);
  const before = original === undefined ? {} : await dataOf(setting, original);
  return pruned(setting, await proven(setting, edit, withValue(data, setting.path, rest)), before, original);
}

function isOurs(setting: Setting, word: unknown): boolean {
  return setting.kind === 'permission' && setting.words.some((ours) => ours === word);
}

/** Removes from TEXT those objects on the path of SETTING that are empty now, and returns the new text. Keeps an object
 * that contains a comment, or that is in BEFORE, the parsed data of ORIGINAL. ORIGINAL is the text before install, or
 * undefined when the file did not exist then. Returns undefined when nothing is left of such a file. */
async function pruned(setting: Setting, text: string, before: Data, original: string | undefined) {
  let whole = text;
  for (let depth = setting.path.length; depth > 0; depth--) {
    const path = setting.path.slice(0, depth);
    const data = await dataOf(setting, whole);
    const { isBare } = await formatOf(setting);
    if (!isBare(whole, path) || valueAtPath(before, path) !== undefined) continue;
    whole = await proven(setting, (format) => format.remove(whole, path), withValue(data, path, undefined));
  }
  // A file stays if somebody has added comments to it.
  return original === undefined && /^[\s{}]*$/.test(whole) ? undefined : whole;
}

/** Performs EDIT and returns the text. Throws a SetupError when the data of this text differ from EXPECTED. */
async function proven(setting: Setting, edit: (format: Format) => string, expected: Data): Promise<string> {
  const format = await formatOf(setting);
  try {
    const text = edit(format);
    if (isDeepStrictEqual(bare(format.parse(text), setting), bare(expected, setting))) return text;
  } catch {
    // An error is treated like a wrong result.
  }
  throw new SetupError(
    `${setting.file} cannot be edited safely, and was not changed. Change ${setting.path.join('.')} in it by hand.`,
  );
}

/** SETTING is in a container, which is the object at its path without the last name. If DATA has an empty container
 * there, returns DATA without this container, else DATA: in TOML, a parent table without children does not exist. */
function bare(data: Data, { path }: Setting): Data {
  const container = path.slice(0, -1);
  return container.length > 0 && isEmpty(valueAtPath(data, container))
    ? withValue(data, container, undefined)
    : data;
}
