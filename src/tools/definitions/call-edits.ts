// Plans edits that rewrite all calls of a function by a pattern.

import { CallError } from '../../errors.ts';
import type { CallContext } from '../../kernel/tool.ts';
import { ownWords, type QuestionLine, questionLine } from '../../question-line.ts';
import { type KeptMention, rewriteCalls } from '../../source/call-rewriting.ts';
import { callMentionsIn } from '../../source/calls.ts';
import { mayContainPlainly } from '../../source/mentioning.ts';
import { packagesUsing } from '../../source/packages.ts';
import { callOptions } from '../calling.ts';
import { foundValue, isLookupFailure } from '../lookup.ts';
import { takingTurns } from '../turns.ts';
import { CalledLists } from './called-lists.ts';
import type { EditedFile, EditedFiles, PlannedFile } from './edited-files.ts';
import type { CallsEdit } from './edits.ts';
import { lispFiles, lookupBudget } from './in-workspace.ts';
import type { Origins } from './origins.ts';

/** Adds splices to FILES that rewrite the calls of a function in one file, or in all Lisp files of the
 * workspace. DEFINING are the files that the other edits of this call change, with their planned text. HOME is the
 * package of a name without prefix. Returns a line for each call or mention that is not rewritten. Throws a CallError
 * when the image lacks the function, or no file mentions it. */
export async function planCallsEdit(
  { image, places, workspace }: Origins,
  files: EditedFiles,
  defining: readonly PlannedFile[],
  { label, path: only, query, pattern }: CallsEdit,
  home: string | undefined,
  context: CallContext,
): Promise<QuestionLine[]> {
  const asked = { name: query.name, ...(home !== undefined && { package: home }), limit: 1 };
  const facts = foundValue(await image.call('impact', asked, callOptions(context)));
  if (isLookupFailure(facts) || facts.kind === undefined)
    throw new CallError(
      `${label}: ${query.name} is not a function in the image, so its calls are unknown. Load its definition first.`,
    );
  const turn = takingTurns();
  const mentioning: string[] = [];
  const packages = new Set(facts.homes);
  const budget = lookupBudget();
  for await (const path of lispFiles(workspace, places, budget)) {
    const text = places.sourceText(path)?.text ?? '';
    if (mayContainPlainly(text, [query.symbol])) mentioning.push(path);
    for (const name of packagesUsing(text, facts.homes ?? [])) packages.add(name);
    await turn();
  }
  if (budget.exceeded)
    throw new CallError(
      `${label}: the workspace has too many files to search for calls; nothing was changed. Edit calls with 'path', 'old' and 'new'.`,
    );
  const paths = only === undefined ? mentioning.map((path) => workspace.name(path)) : [only];
  const callee = { name: query.symbol, packages, macro: facts.kind === 'MACRO' };
  const lists = new CalledLists(image, defining, pattern, { facts, ...callee }, context);
  const lines: QuestionLine[] = [];
  let found = 0;
  for (const path of paths) {
    const file = await files.open(path);
    const mentions = callMentionsIn(file.source, places.features, callee);
    const listAt = await lists.inFile(file.forms, mentions);
    const { splices, kept } = rewriteCalls(file.source, mentions, pattern, file.splices, listAt);
    for (const splice of splices) file.splices.push({ ...splice, label });
    lines.push(...kept.map((mention) => keptLine(file, mention)));
    found += mentions.length;
    await turn();
  }
  if (found === 0) {
    const where = only === undefined ? 'no file of the workspace calls' : `${only} does not call`;
    throw new CallError(`${label}: ${where} ${query.name}.`);
  }
  return lines;
}

function keptLine(
  { present, source }: EditedFile,
  { start, why, what, counts, loading }: KeptMention,
): QuestionLine {
  let line = questionLine`Not changed: ${present.name}:${source.lineAt(start)}: ${ownWords(why)}`;
  if (what !== undefined) line = questionLine`${line}: ${what}`;
  if (loading === undefined) return questionLine`${line}.`;
  if (counts !== undefined)
    line = questionLine`${line}: ${counts.given}, and ${loading} requires ${counts.required}`;
  return questionLine`${line}. Change this call in a separate edit, or first load the new definition of ${loading}.`;
}
