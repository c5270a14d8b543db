// Defines the tools load_file and load_system, which compile and load source files and ASDF systems.

import { join } from 'node:path';
import { CallError } from '../../errors.ts';
import { realPathOf } from '../../files/answering.ts';
import { wholeContentDiff } from '../../files/diff.ts';
import { digestOf } from '../../files/digest.ts';
import { fileFailure } from '../../files/failure.ts';
import { WHOLE_FILE_LIMIT } from '../../files/lines.ts';
import { readRegularAsync } from '../../files/regular.ts';
import { decode, linesOf } from '../../files/text.ts';
import type { Workspace } from '../../files/workspace.ts';
import type { Image } from '../../image/image.ts';
import type { CallOptions, Reply } from '../../image/wire/call.ts';
import type { LoadSystemData, MissingSystem, Remarks, Twin, Warning } from '../../image/wire/operations.ts';
import type { EarlierAnswers } from '../../kernel/earlier-answers.ts';
import { nearest } from '../../kernel/nearest.ts';
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
import { type KeepFolder, withTemporaryFolder } from '../../temporary-folder.ts';
import { visibleName } from '../../visible.ts';
import { callOptions, limitOption, TIMEOUT } from '../calling.ts';
import {
  DEBUG_LEVEL,
  errorOptions,
  type HeldToolCalls,
  heldResultOr,
  ON_ERROR,
  RESTARTS,
} from '../debug/hold.ts';
import { NO_MANAGER } from '../endings.ts';
import type { Places } from '../places.ts';
import { type ShownWarnings, sameText } from '../shown-warnings.ts';
import { sourceFile } from '../source-file.ts';
import { loadResult } from './load-text.ts';

/** The objects with which these tools work. `shownWarnings` records the warnings that earlier answers had. */
interface LoadContext {
  places: Places;
  holds: HeldToolCalls;
  shownWarnings: ShownWarnings;
}

const LOAD_FILE = {
  name: 'load_file',
  description:
    'Compile and load a saved Lisp source file from disk into the running image, or reload it after an edit, with warnings by line. For a whole project take load_system. Tells where image and file differ.',
  parameters: [
    { name: 'path', type: 'string', description: 'Such as src/utils.lisp' },
    {
      name: 'forget',
      type: 'boolean',
      description: 'Remove what was listed as gone from the file',
    },
    {
      name: 'check',
      type: 'boolean',
      description: 'Only compile',
    },
    ON_ERROR,
    RESTARTS,
    DEBUG_LEVEL,
    TIMEOUT,
  ],
  required: ['path'],
  limitMs: Number.POSITIVE_INFINITY,
  safetyLevel: 'cautious',
  categories: ['execution'],
  shortDescription: 'Compile a Lisp source file and load it',
  complexity: 'moderate',
  keywords: [
    'lint a file',
    'compile a file',
    'syntax check',
    'reload a file after editing',
    'load a file',
    'compiler warnings of a file',
    'source file',
    'compilation errors',
  ],
} as const satisfies ToolDescription;

export function loadFileTool(image: Image, load: LoadContext, workspace: Workspace) {
  return defineTool({
    ...LOAD_FILE,
    preview: async (args) => {
      const { path } = args;
      const file = await sourceFile(workspace, path);
      return loadPreview(workspace, file, args).catch((error: unknown) => {
        throw fileFailure(error, path, 'read');
      });
    },
    handler: async (args, context) => {
      const file = await sourceFile(workspace, args.path);
      if (args.check && args.forget)
        throw new CallError('Give check or forget, not both: check loads nothing.');
      return withTemporaryFolder(async (folder, keep) =>
        args.check
          ? checkFile(image, load.places, file, folder, context, limitOption(args))
          : loadFileBy(image, load, { ...args, file, fasl: join(folder, 'loaded.fasl'), keep }, context),
      );
    },
  });
}

/** The arguments of a load of `file`. If an error of the load is held, `keep` keeps the folder of `fasl`. */
type FileLoad = Omit<LoadArguments, 'path'> & { file: string; fasl: string; keep?: KeepFolder };

/** Compiles `file` to `fasl`, loads it in IMAGE, and returns the result. */
export async function loadFileBy(
  image: Image,
  { places, holds, shownWarnings }: LoadContext,
  { file, fasl, keep, ...args }: FileLoad,
  context: CallContext,
): Promise<Result> {
  const forget = args.forget && { forget: 'listed' as const };
  const request = { file, fasl, ...forget, ...errorOptions(args, holds) };
  const reply = await image.call('load-file', request, { ...callOptions(context), ...limitOption(args) });
  return heldResultOr(
    reply,
    { name: 'load-file', args: request, holds, places, ...(keep && { keep }) },
    (finalReply) => {
      const headline = fileHeadline(finalReply, places.fileName(file));
      const { fresh, same } = freshWarnings(finalReply.data, shownWarnings, context.earlierAnswers);
      const result = loadResult({ ...finalReply, data: fresh }, headline, places, context, same);
      const twins = twinsText(finalReply.data.twins, places, context.earlierAnswers);
      return { ...result, text: joinSections([result.text, twins]) };
    },
  );
}

/** Compiles FILE to a fasl in FOLDER and does not load it. Returns the result, with errors and warnings. */
async function checkFile(
  image: Image,
  places: Places,
  file: string,
  folder: string,
  context: CallContext,
  limit: Pick<CallOptions, 'limitMs'>,
): Promise<Result> {
  const request = { file, fasl: join(folder, 'checked.fasl') };
  const reply = await image.call('check-file', request, { ...callOptions(context), ...limit });
  const { data, ending } = reply;
  const { warnings = [] } = data;
  const name = places.fileName(file);
  const headline =
    ending.kind !== 'done'
      ? `The compilation of ${name} was left early.`
      : data.value?.notLoaded
        ? `${name} could not be compiled.`
        : `${name} compiles ${warnings.length > 0 ? 'with warnings' : 'without warnings'}.`;
  const result = loadResult(
    reply,
    `${headline} Nothing of it was loaded; what its compile-time code did stays.`,
    places,
    context,
  );
  return { ...result, data: { ...data.value, warnings, warningCount: data.warningCount ?? 0, ending } };
}

type LoadArguments = ArgumentsFor<typeof LOAD_FILE>;

/** Returns the preview that a human sees before FILE is loaded. An approval covers only the current content of FILE. */
async function loadPreview(
  workspace: Workspace,
  file: string,
  { check, forget }: LoadArguments,
): Promise<Preview> {
  const real = await realPathOf(file);
  const place = workspace.name(real);
  const bounds = { limit: WHOLE_FILE_LIMIT, head: true, forbids: (file: string) => workspace.forbids(file) };
  const { octets: bytes, stats } = await readRegularAsync(real, bounds);
  if (stats.size > WHOLE_FILE_LIMIT) {
    throw new CallError(
      `${visibleName(place)} is larger than ${WHOLE_FILE_LIMIT / 1024 / 1024} MB, too large to show to a human for approval. Load it with eval_form and (load ...), or ask the user to start the server without --ask cautious.`,
    );
  }
  const fingerprint = digestOf(bytes);
  const text = decode(bytes);
  const count = linesOf(text.text).length;
  const lines = count === 1 ? questionLine`1 line` : questionLine`${count} lines`;
  const forgetNote = forget
    ? questionLine`, and then to remove from the image what answers have listed as no longer in it`
    : questionLine``;
  const what = check ? questionLine`to compile, not to load` : questionLine`to compile and run${forgetNote}`;
  const summary = questionLine`${lines} ${what}`;
  return { ...wholeContentDiff(questionLine`File ${place}`, text), summary, place, fingerprint };
}

function fileHeadline({ data, ending }: Reply<'load-file'>, name: string): string {
  if (data.value?.begun) return `${name} was not loaded to its end, only up to the form where it stopped.`;
  if (data.value?.notLoaded)
    return `Not loaded: ${name} could not be compiled. What it does at compile time (packages, macros) may be in the image.`;
  if (ending.kind !== 'done' && data.phase === 'compile')
    return `Not loaded: the compilation of ${name} was left early. What it did at compile time until then (packages, macros) is in the image.`;
  // The image was lost, and with it the definitions that were loaded from the file.
  if (ending.kind === 'lost') return `${name} was not loaded to its end.`;
  if (ending.kind !== 'done')
    return `${name} was not loaded to its end, only up to the form where it stopped.`;
  return data.value?.failed
    ? `Loaded ${name}, but some forms have errors (below) and will signal when they run.`
    : `Loaded ${name}`;
}

const LOAD_SYSTEM = {
  name: 'load_system',
  description:
    'Load a library, your project or another ASDF system (.asd) with its dependencies, as require and quickload do, or again what changed in it. Take it when a package does not exist yet; for a single file load_file. Returns what was loaded, warnings by file, and where image and files differ.',
  parameters: [
    { name: 'system', type: 'string', description: 'Such as alexandria or my-app/tests' },
    { name: 'force', type: 'boolean', description: 'Compile it all again' },
    ON_ERROR,
    RESTARTS,
    TIMEOUT,
  ],
  required: ['system'],
  limitMs: Number.POSITIVE_INFINITY,
  safetyLevel: 'cautious',
  categories: ['execution'],
  shortDescription: 'Load an ASDF system with what it depends on',
  complexity: 'moderate',
  keywords: [
    'install a library',
    'build the project',
    'quicklisp',
    'ASDF',
    'load a system',
    'load a library',
    'dependencies',
    'third-party library',
  ],
} as const satisfies ToolDescription;

export function loadSystemTool(image: Image, load: LoadContext) {
  return defineTool({
    ...LOAD_SYSTEM,
    handler: async (args, context) => loadNamedSystem(image, load, args, context),
  });
}

/** Loads the system that ARGS name in IMAGE, and returns the result. */
export async function loadNamedSystem(
  image: Image,
  { places, holds, shownWarnings }: LoadContext,
  args: ArgumentsFor<typeof LOAD_SYSTEM>,
  context: CallContext,
): Promise<Result> {
  const { system, force = false } = args;
  const request = { name: system, force, ...errorOptions(args, holds) };
  const reply = await image.call('load-system', request, { ...callOptions(context), ...limitOption(args) });
  let ownFiles: readonly string[] | undefined;
  if (reply.ending.kind === 'done') {
    const { system: name = system } = reply.data.value ?? {};
    const files = await image.call('system-files', { names: [name] }, callOptions(context));
    ownFiles = files.data.value ?? [];
  }
  return heldResultOr(reply, { name: 'load-system', args: request, holds, places }, (finalReply) => {
    const { filtered, note } = withoutStyleOfLibraries(finalReply.data, ownFiles, places, context);
    const { fresh, same } = freshWarnings(
      filtered,
      shownWarnings,
      force ? undefined : context.earlierAnswers,
    );
    const result = systemResult({ ...finalReply, data: fresh }, system, places, context, same);
    return {
      ...result,
      text: joinSections([
        result.text,
        goneText(finalReply.data, places),
        note,
        twinsText(finalReply.data.value?.twins, places, context.earlierAnswers),
      ]),
    };
  });
}

/** Returns REMARKS without the warnings that earlier answers had, and a sentence with their number. Returns all of
 * REMARKS when REMARKS are incomplete, or when there are no earlier answers. */
function freshWarnings<T extends Remarks>(
  remarks: T,
  shownWarnings: ShownWarnings,
  earlierAnswers: EarlierAnswers | undefined,
): { fresh: T; same: string } {
  const { warnings = [], warningCount = warnings.length } = remarks;
  const isWhole = warningCount === warnings.length;
  const shown =
    earlierAnswers !== undefined && isWhole ? shownWarnings.newFor(earlierAnswers, warnings) : warnings;
  shownWarnings.keep(warnings);
  const count = warnings.length - shown.length;
  const fresh = { ...remarks, warnings: shown, warningCount: warningCount - count };
  return { fresh, same: sameText(count) };
}

/** Returns REMARKS without style warnings about libraries, which the caller cannot fix, and a note with their number.
 * OWN_FILES are the files of the requested system. */
function withoutStyleOfLibraries<T extends Remarks>(
  remarks: T,
  ownFiles: readonly string[] | undefined,
  places: Places,
  { earlierAnswers }: CallContext,
): { filtered: T; note?: string } {
  const { warnings = [], warningCount = warnings.length } = remarks;
  const style = new Set<Warning['severity']>(['style-warning', 'undefined']);
  const shown = warnings.filter(
    ({ file, severity }) =>
      file === undefined || !style.has(severity) || places.isOwn(file) || ownFiles?.includes(file),
  );
  const count = warnings.length - shown.length;
  if (ownFiles === undefined || count === 0) return { filtered: remarks };
  const advice = earlierAnswers?.repeats('library warnings')
    ? ''
    : ' load_system of a library with force: true shows its warnings.';
  return {
    filtered: { ...remarks, warnings: shown, warningCount: warningCount - count },
    note: `Left out: ${count} style ${count === 1 ? 'warning' : 'warnings'} in libraries.${advice}`,
  };
}

/** Returns the result of loading SYSTEM. SAME is a sentence about warnings that REPLY leaves out. */
export function systemResult(
  reply: Reply<'load-system'>,
  system: string,
  places: Places,
  context: CallContext,
  same = '',
): Result {
  const { missing, ...value } = reply.data.value ?? {};
  if (missing === undefined) return loadResult(reply, systemHeadline(reply, system), places, context, same);
  // The output of SBCL is about the load that was interrupted, so it is left out.
  const { output: _, ...quiet } = reply;
  return {
    ...loadResult(quiet, missingText({ ...value, missing }, places), places, context),
    failed: true,
    unfound: true,
  };
}

/** Returns sentences about the system `missing`, which ASDF did not find: where ASDF searched, and how to install the
 * system. The caller requested this system, or a system that depends on it. `done` says whether the requested system
 * was to be loaded or tested. */
export function missingText(
  {
    missing,
    system,
    neededBy,
    known = [],
    asd,
    manager,
    managerFailure,
    installing,
    initFile,
  }: MissingSystem,
  places: Places,
  done: 'loaded' | 'tested' = 'loaded',
): string {
  const similar = nearest(missing, known);
  const hint = similar.length > 0 ? `Similar names: ${similar.join(', ')}.` : 'No system has a similar name.';
  const headline =
    neededBy === undefined
      ? `System ${missing} not found by ASDF.`
      : `System ${system} was not ${done}: ${neededBy} needs ${missing}, which ASDF does not find.`;
  if (asd !== undefined) return `${headline} ${undefinedText(asd, places)}`;
  if (installing !== undefined) return `${headline} ${manager} can install it: evaluate ${installing}.`;
  const where =
    "ASDF looks in the workspace, the distribution's Lisp libraries and the user's source registry.";
  const managed =
    manager === undefined ? NO_MANAGER : (managerFailure ?? `${manager} has no system of that name either.`);
  const unloaded =
    initFile === undefined
      ? ''
      : ` Images do not load ${initFile}, which may tell ASDF of more folders: ask the user to start live-lisp with --init ${initFile}, which loads it.`;
  return `${headline} ${hint} ${where} ${managed}${unloaded}`;
}

function undefinedText({ file, systems = [] }: NonNullable<MissingSystem['asd']>, places: Places): string {
  const name = places.fileName(file);
  return systems.length === 0
    ? `${name} has no system. Write the missing defsystem there.`
    : `${name} has no such system, only ${systems.join(', ')}. Name ${systems.length === 1 ? 'that system' : 'one of these'} instead, or write the missing defsystem there.`;
}

const GONE_LIMIT = 5;

/** Returns a sentence about source files of a loaded system that no longer exist; '' when all exist. */
export function goneText({ value: { system = '', gone = [] } = {} }: LoadSystemData, places: Places): string {
  if (gone.length === 0) return '';
  const names = gone.slice(0, GONE_LIMIT).map((file) => places.fileName(file));
  if (gone.length > GONE_LIMIT) names.push(`${gone.length - GONE_LIMIT} more`);
  const [files, are, them] = gone.length === 1 ? ['file', 'is', 'it'] : ['files', 'are', 'them'];
  return `The ${files} ${names.join(', ')} of system ${system} ${are} gone, so the system could not be loaded again. Restore the ${files}, or remove ${them} from the defsystem form of ${system}.`;
}

/** Maximum number of notes about twins. A twin is a loaded system of whose name ASDF finds a second one. */
const TWIN_LIMIT = 5;

/** Returns notes about TWINS, loaded systems of whose name ASDF finds a second one. Leaves out the notes that earlier
 * answers had. Returns '' when no note remains. */
export function twinsText(
  twins: readonly Twin[] = [],
  places: Places,
  earlierAnswers?: EarlierAnswers,
): string {
  const news = twins.filter(
    ({ name, file, other }) => !earlierAnswers?.repeats(`twin ${name}`, `${file} ${other}`),
  );
  const notes = news
    .slice(0, TWIN_LIMIT)
    .map(
      ({ name, file, other }) =>
        `Note: ${name} was loaded from ${places.fileName(file)}; the other ${name}, in ${places.fileName(other)}, is not used.`,
    );
  const others = news.slice(TWIN_LIMIT).map(({ name }) => name);
  const more = others.length > 0 ? [`Note: others named ${others.join(', ')} are not used either.`] : [];
  return [...notes, ...more].join('\n');
}

function systemHeadline({ data, ending }: Reply<'load-system'>, name: string): string {
  if (ending.kind !== 'done') return `System ${name} was not loaded to its end.`;
  const loaded = (data.value?.loaded ?? []).filter(
    (loadedSystem) => loadedSystem !== (data.value?.system ?? name),
  );
  if (data.value?.already)
    return data.value.unchanged
      ? `System ${name} was loaded already, and none of its ${data.value.gone === undefined ? '' : 'other '}files has changed.`
      : `System ${name} was loaded already; changed files were loaded again.`;
  return `Loaded system ${name}${loaded.length > 0 ? `, with ${loaded.join(', ')}` : ''}`;
}
