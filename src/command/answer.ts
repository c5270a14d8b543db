// Prints the answers that a command gets from its session.

import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CallEnd, type EndKind, OUTCOME_KEY } from '../door/outcome.ts';
import { messageOf } from '../errors.ts';
import { complain, print, printPart } from '../output.ts';
import { makeOwnFolder } from '../ownership.ts';
import { cacheFolder, removeIfPossible } from '../paths.ts';
import { inVerbs } from './verbs.ts';

/** The result of a request. The values of its members are not checked. */
export type RequestResult = { readonly [member: string]: unknown };

/** A file with a whole answer is removed after this number of milliseconds. */
const KEPT_MS = 24 * 60 * 60 * 1000;

/** Prints the output of a call while the call runs: first a headline, and at the end an empty line. */
export class WrittenText {
  #last = '';

  add(text: string): void {
    printPart(this.#last === '' ? `Output:\n${text}` : text);
    this.#last = text;
  }

  end(): void {
    if (this.#last !== '') print(this.#last.endsWith('\n') ? '' : '\n');
    this.#last = '';
  }
}

/** Returns the texts in the result of a call: the answer, and then the notices. Returns undefined for a result that
 * does not have such texts. */
export function textsIn({ content }: RequestResult): string[] | undefined {
  const texts = Array.isArray(content) ? content.map((each) => Object(each).text) : [undefined];
  return texts.every((each) => typeof each === 'string') ? texts : undefined;
}

/** Prints the result of a call: its answer to stdout, as JSON if IS_JSON is true, and its notices to stderr. The second
 * parameter has the texts of the result: the answer, and then the notices. Returns the way in which the call ended. */
export function printResult(
  { isError, _meta }: RequestResult,
  [own = '', ...notices]: readonly string[],
  isJson: boolean,
): EndKind {
  const { ended, data, whole } = Object(Object(_meta)[OUTCOME_KEY]) as Partial<CallEnd>;
  if (isJson) print(JSON.stringify(data ?? { text: own }));
  else print(inVerbs(own) + (whole === undefined ? '' : `\n\n${keptText(inVerbs(whole))}`));
  for (const notice of notices) complain(inVerbs(notice));
  return ended ?? (isError === true ? 'failed' : 'good');
}

/** Writes TEXT, a whole answer, to a file that only the user can read, and removes such files that are older than
 * KEPT_MS. Returns a sentence with the path of the file, or with the reason why it could not be written. */
function keptText(text: string): string {
  const folder = join(cacheFolder(), 'answers');
  const file = join(folder, `${Date.now()}-${process.pid}.txt`);
  try {
    makeOwnFolder(folder);
    for (const each of readdirSync(folder).map((name) => join(folder, name)))
      if (Date.now() - (statSync(each, { throwIfNoEntry: false })?.mtimeMs ?? 0) > KEPT_MS)
        removeIfPossible(each);
    writeFileSync(file, `${text}\n`, { mode: 0o600, flag: 'wx' });
    return `The whole answer, ${text.length} characters, is kept in ${file} for a day.`;
  } catch (error) {
    return `The whole answer, ${text.length} characters, could not be kept in ${folder} (${messageOf(error)}). Ask for less, or make that folder writable.`;
  }
}
