// Finds the setting, in the files of a client, that lets the client run all tools of live-lisp without asking its user.

import { isObject } from '../json.ts';
import { dataOf } from './edit.ts';
import { readConfigFile } from './file.ts';
import { type Setting, valueAtPath } from './settings.ts';

/** A setting that lets the client run all tools without asking: a phrase for it, and its file. */
export interface Grant {
  what: string;
  file: string;
}

/** Returns the value that the file OTHER, by default the setting's own file, has for the given setting. Returns
 * undefined when the file does not have this setting. Throws a SetupError when the file cannot be read. */
export async function valueIn({ file, format, path }: Setting, other = file): Promise<unknown> {
  return valueAtPath(await dataOf({ file: other, format }, readConfigFile(other)), path);
}

/** Returns the setting that lets a client run all tools of live-lisp without asking; undefined when there is none.
 * SETTINGS are the settings that install writes with --trust. */
export async function grantOf(settings: readonly Setting[]): Promise<Grant | undefined> {
  for (const setting of settings) {
    for (const file of setting.kind === 'permission' ? setting.files : [setting.file]) {
      const found = await valueIn(setting, file);
      const what = setting.kind === 'permission' ? grantingWord(setting.words, found) : grantingMember(found);
      if (what !== undefined) return { what, file };
    }
  }
  return undefined;
}

/** Returns, as JSON, the permission in FOUND that covers all tools: one of WORDS, alone or followed by `__*`. Returns
 * undefined when there is none. */
function grantingWord(words: readonly string[], found: unknown): string | undefined {
  const wide = words.flatMap((word) => [word, `${word}__*`]).find((word) => isIn(word, found));
  return wide && JSON.stringify(wide);
}

/** Returns the member of FOUND, the entry of live-lisp, that lets all tools run without asking; undefined when there is
 * none. */
function grantingMember(found: unknown): string | undefined {
  const { default_tools_approval_mode: mode, trust } = isObject(found) ? found : {};
  if (mode === 'approve') return 'default_tools_approval_mode';
  return trust === true ? 'trust' : undefined;
}

/** SETTINGS are the settings that install writes without --trust. They permit a client to run read-only tools without
 * asking its user. Returns true when one of these permissions is missing, so that the client asks each time. */
export async function asksAlways(settings: readonly Setting[]): Promise<boolean> {
  for (const setting of settings) {
    if (setting.kind === 'entry') continue;
    const lists = await Promise.all(setting.files.map((file) => valueIn(setting, file)));
    if (setting.words.some((word) => !lists.some((list) => isIn(word, list)))) return true;
  }
  return false;
}

function isIn(word: string, list: unknown): boolean {
  return Array.isArray(list) && list.includes(word);
}
