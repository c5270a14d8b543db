// Finds the setting by which a client runs all our tools without asking its user, in each of its configuration files.

import { dataOf } from './edit.ts';
import { readText } from './file.ts';
import { at, isData, type Setting } from './settings.ts';

/** What lets every tool run without a question, and the file that it is in. */
export interface Grant {
  what: string;
  file: string;
}

/** Returns the value of SETTING in FILE, by default its own; undefined when it is not there. Throws a SetupError when the
 *  file cannot be read. */
export async function valueIn({ file, format, path }: Setting, other = file): Promise<unknown> {
  return at(await dataOf({ file: other, format }, readText(other)), path);
}

/** Returns what lets a client run every tool of ours without a question; undefined when there is nothing. SETTINGS are
 *  those that install writes with --trust. */
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

/** Returns the word of FOUND, a list of permissions, that stands for all tools as one of WORDS does. */
function grantingWord(words: readonly string[], found: unknown): string | undefined {
  const wide = words.flatMap((word) => [word, `${word}__*`]).find((word) => isIn(word, found));
  return wide && JSON.stringify(wide);
}

/** Returns the member of FOUND, our entry in Codex or Gemini CLI, that lets every tool run without a question. */
function grantingMember(found: unknown): string | undefined {
  const { default_tools_approval_mode: mode, trust } = isData(found) ? found : {};
  if (mode === 'approve') return 'default_tools_approval_mode';
  return trust === true ? 'trust' : undefined;
}

/** True when a client asks before each tool, also before those that only look: it lacks one of the permissions in
 *  SETTINGS, which are those that install writes without --trust. */
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
