// Defines the tool rename_symbol, which renames a symbol in all files and in the image.

import { CallError } from '../../errors.ts';
import { changesLines, fileDiffOf, filesSummary } from '../../files/diff.ts';
import type { Intents } from '../../files/intents.ts';
import { encode } from '../../files/text.ts';
import { replaceTogether } from '../../files/together.ts';
import type { FileState } from '../../files/write.ts';
import type { NameConflict, RenameFacts } from '../../image/wire/operations.ts';
import { joinSections } from '../../kernel/reply.ts';
import {
  type ArgumentsFor,
  type CallContext,
  defineTool,
  type Preview,
  type Result,
  type ToolDescription,
} from '../../kernel/tool.ts';
import { questionLine } from '../../question-line.ts';
import { symbolIn } from '../../source/symbol-text.ts';
import { visibleName } from '../../visible.ts';
import { checkApproved } from '../approved.ts';
import { callOptions } from '../calling.ts';
import type { ChangeTurns } from '../changing.ts';
import { foundValue, isLookupFailure, lookupResult, PACKAGE, packageOf } from '../lookup.ts';
import { derivedNames } from './derived.ts';
import { follow, type UpdateDependencies } from './follow.ts';
import { definingForms, planRename, type RenameDependencies, type RenamePlan } from './plan.ts';
import { followedText, placesText, renameNotes } from './rename-text.ts';

const RENAME_SYMBOL = {
  name: 'rename_symbol',
  description:
    'Rename a function, macro, class, variable, slot or other symbol everywhere: in all files of the project, with quotes and exports, and in the image. For other changes use edit_definitions. Lists conflicts; the user approves one diff, then the files are reloaded.',
  parameters: [
    { name: 'name', type: 'string', description: 'Such as app::thing' },
    { name: 'to', type: 'string', description: 'New name, without package' },
    PACKAGE,
    { name: 'dry_run', type: 'boolean', description: 'Only show the plan' },
    {
      name: 'text',
      type: 'boolean',
      description: 'Also comments, strings, other files',
    },
    {
      name: 'keywords',
      type: 'boolean',
      description: 'Also its keyword parameters and initargs',
    },
  ],
  required: ['name', 'to'],
  limitMs: Number.POSITIVE_INFINITY,
  safetyLevel: 'dangerous',
  // After a rename, the changed files are loaded again, which runs all code in them.
  effects: { openWorld: true },
  categories: ['diff', 'xref'],
  shortDescription: 'Rename a function, class, variable or any symbol in all files and in the image',
  complexity: 'moderate',
  keywords: [
    'refactor a name',
    'new name',
    'change a name in all files',
    'rename a function',
    'rename everywhere',
    'rename a class',
    'rename a variable',
    'rename a slot',
  ],
} as const satisfies ToolDescription;

type RenameArguments = ArgumentsFor<typeof RENAME_SYMBOL>;

interface RenameSymbolDependencies extends RenameDependencies, UpdateDependencies {
  /** The records of edits of several files. If a kill interrupts an edit, the next server uses them to undo it. */
  intents: Intents;
}

export function renameSymbolTool(dependencies: RenameSymbolDependencies, turns: ChangeTurns) {
  return defineTool({
    ...RENAME_SYMBOL,
    isReadOnly: (args) => args.dry_run === true,
    // While a rename writes and loads files, the image has definitions that the files do not have. So other calls must
    // not plan a rename meanwhile.
    preview: (args, context) =>
      turns.within(context, async () => previewOf(await planned(dependencies, args, context))),
    handler: (args, context) => turns.within(context, () => rename(dependencies, args, context)),
  });
}

async function rename(
  dependencies: RenameSymbolDependencies,
  args: RenameArguments,
  context: CallContext,
): Promise<Result> {
  const found = await planned(dependencies, args, context);
  const { facts, plan } = found;
  const data = dataOf(found);
  const to = facts.renamings[0]?.to ?? '';
  const notes = renameNotes(facts, plan).join('\n');
  if (args.dry_run === true) {
    const would = `Would rename ${facts.name} to ${to}: ${placesText(plan, true)}`;
    return { data, text: joinSections([would, notes]) };
  }
  if (context.fingerprint !== undefined && context.fingerprint !== plan.fingerprint)
    throw new CallError('The files changed while this rename was prepared; nothing was written. Call again.');
  await writePlan(dependencies, plan, context);
  const followed = await follow(dependencies, facts, plan, context);
  const { problems, ...image } = followed;
  return {
    data: { ...data, image },
    text: joinSections([
      [`Renamed ${facts.name} to ${to}: ${placesText(plan, false)}.`, notes].filter(Boolean).join('\n'),
      followedText(followed, dependencies.places),
    ]),
    failed: followed.failed,
  };
}

/** The first of the `renamings` in `facts` is that of the symbol. The others are those of derived names. */
interface Planned {
  facts: RenameFacts;
  plan: RenamePlan;
}

async function planned(
  dependencies: RenameSymbolDependencies,
  args: RenameArguments,
  context: CallContext,
): Promise<Planned> {
  const { name: to, prefix } = newName(args.to);
  const ask = async (derived: [string, string][] = []) => {
    const asked = { name: args.name, ...packageOf(args), to, ...(derived.length > 0 && { derived }) };
    const found = foundValue(await dependencies.image.call('rename-facts', asked, callOptions(context)));
    if (isLookupFailure(found)) throw new CallError(lookupResult(found).text);
    checkFacts(found, prefix);
    return found;
  };
  // The first facts tell which names are derived. The second ones also have the conflicts of these names.
  const first = await ask();
  const derived = derivedNames(first, to, definingForms(first, dependencies));
  const facts = derived.names.size > 0 ? await ask([...derived.names]) : first;
  const wanted = { keywords: args.keywords === true, prose: args.text === true };
  return { facts, plan: await planRename(facts, derived, wanted, dependencies) };
}

function previewOf({ facts, plan }: Planned): Preview {
  const to = facts.renamings[0]?.to ?? '';
  const notes = renameNotes(facts, plan);
  const then = questionLine`Then those files that the image had already loaded are loaded again.`;
  const names = plan.changes.map(({ present }) => present.name);
  const [place = '', ...otherPlaces] = names;
  const changes = plan.changes.map(({ present, before, after }) => fileDiffOf(present.name, before, after));
  const renamed = questionLine`rename ${facts.name} to ${to}`;
  return {
    summary: questionLine`${filesSummary(changes)}, then load: ${renamed}`,
    lines: [...notes, ...changesLines(changes, names)],
    text: [questionLine`To ${renamed}:`, ...notes, then, ...changes.flatMap(({ text }) => text)],
    place,
    otherPlaces,
    fingerprint: plan.fingerprint,
  };
}

async function writePlan(
  { workspace, intents }: RenameSymbolDependencies,
  plan: RenamePlan,
  { signal }: CallContext,
) {
  await replaceTogether(
    workspace,
    intents,
    plan.changes.map(({ real, present, after }) => ({
      path: real,
      bytes: encode(after, visibleName(present.name)),
      confirm: (now: FileState) => checkApproved(now, present.fingerprint),
    })),
    signal,
  );
}

function dataOf({ facts, plan }: Planned) {
  const { changes, kept, outside, merged } = plan;
  return {
    name: facts.name,
    renamings: facts.renamings.map(({ from, to }) => ({ from, to })),
    files: changes.map(({ present, lines }) => ({ path: present.name, lines })),
    kept,
    outside,
    merged,
  };
}

/** Returns the symbol in TEXT, the argument `to`. Throws a CallError when TEXT is not exactly one symbol. */
function newName(text: string): { name: string; prefix?: string } {
  const found = symbolIn(text.trim());
  // A keyword has the prefix ''.
  if (found !== undefined && found.prefix !== '') return found;
  throw new CallError(
    `Parameter 'to' must be one symbol without quotes or parentheses, such as new-name, not ${text}`,
  );
}

/** Throws a CallError when FACTS contain conflicts. PREFIX is the package prefix of the new name, if it has one. */
function checkFacts(facts: RenameFacts, prefix: string | undefined): void {
  if (facts.home === '')
    throw new CallError(
      `${facts.name} was uninterned, so it cannot be renamed. Rename the symbol that now has this name in the former package, or change the name in the files.`,
    );
  const proper = new Map(facts.packageNames ?? []);
  const [first] = facts.renamings;
  if (prefix !== undefined && (proper.get(prefix) ?? prefix) !== facts.home) {
    throw new CallError(
      `${facts.name} stays in its package, and ${prefix} is another package. Give parameter 'to' without a package.`,
    );
  }
  if (first?.from === first?.to) throw new CallError(`${facts.name} has that name already.`);
  // If files of the project define the symbol, the project owns the package, and its package lock does not matter.
  const isOwn = (facts.places ?? []).length > 0;
  const texts = facts.renamings.flatMap(({ from, to, conflicts = [] }) => {
    const barring = barringOf(conflicts, isOwn);
    const bySymbol = new Map(barring.map((conflict) => [conflict.symbol, conflictText(from, to, conflict)]));
    return [...bySymbol.values()];
  });
  if (texts.length > 0) {
    const shown = texts.slice(0, CONFLICT_LIMIT).concat(texts.length > CONFLICT_LIMIT ? ['...'] : []);
    throw new CallError([`${facts.name} cannot be renamed:`, ...shown].join('\n  '));
  }
}

/** Returns those of CONFLICTS to report. IS_OWN is true when the project owns the package. */
function barringOf(conflicts: readonly NameConflict[], isOwn: boolean): readonly NameConflict[] {
  // A conflict `keyword` or `locked` comes first.
  const [first, ...others] = conflicts;
  if (first?.kind === 'locked' && isOwn) return others;
  return first?.kind === 'keyword' || first?.kind === 'locked' ? [first] : conflicts;
}

const CONFLICT_LIMIT = 10;

function conflictText(from: string, to: string, conflict: NameConflict): string {
  const { kind, package: home = '', symbol = '', natures = [] } = conflict;
  switch (kind) {
    case 'keyword':
      return `:${from} is a keyword, which all packages share. Edit the places that use it.`;
    case 'locked':
      return `${from} is in the locked package ${home}, and no known file defines ${from}.`;
    case 'other':
      return `In package ${home} the name ${to} already means ${symbol}. Choose another name.`;
    case 'taken':
      return `${symbol} is defined already${natures.length > 0 ? `, as ${natures.join(' and ').toLowerCase()}` : ''}. Choose another name, or rename that first.`;
  }
}
