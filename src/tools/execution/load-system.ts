// The tool load_system, which loads an ASDF system and what it depends on.

import type { Image } from '../../image/image.ts';
import type { Reply } from '../../image/wire/call.ts';
import type { LoadSystemData, MissingSystem, Remarks, Warning } from '../../image/wire/operations.ts';
import { nearest } from '../../kernel/nearest.ts';
import { joinSections } from '../../kernel/reply.ts';
import {
  type ArgumentsFor,
  type CallContext,
  defineTool,
  type Result,
  type ToolDescription,
} from '../../kernel/tool.ts';
import { callOptions, limitOption, TIMEOUT } from '../calling.ts';
import { errorOptions, heldResultOr, ON_ERROR, RESTARTS } from '../debug/hold.ts';
import { NO_MANAGER } from '../endings.ts';
import type { Places } from '../places.ts';
import { freshWarnings } from '../shown-warnings.ts';
import { type LoadContext, loadResult, twinsText } from './load-text.ts';

const LOAD_SYSTEM = {
  name: 'load_system',
  description:
    'Load a library, your project or another ASDF system (.asd) with its dependencies, as require and quickload do, or reload its changes. Use it when a package does not exist yet; for a single file use load_file. Returns what was loaded, warnings by file, and where image and files differ.',
  parameters: [
    { name: 'system', type: 'string', description: 'Such as alexandria or my-app/tests' },
    { name: 'force', type: 'boolean', description: 'Recompile everything' },
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
  const isLoaded = reply.ending.kind === 'done';
  const loadedName = reply.data.value?.system ?? system;
  const ownFiles = isLoaded ? await filesOf(image, loadedName, context) : undefined;
  return heldResultOr(reply, { name: 'load-system', args: request, holds, places }, (finalReply) => {
    const { filtered, note } = withoutStyleOfLibraries(finalReply.data, ownFiles, places, context);
    // With `force`, warnings that an earlier answer showed are shown again.
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

async function filesOf(image: Image, system: string, context: CallContext): Promise<readonly string[]> {
  const { data } = await image.call('system-files', { names: [system] }, callOptions(context));
  return data.value ?? [];
}

/** Returns REMARKS without style warnings about libraries, which the caller cannot fix, and a note with their number;
 * no note when there are none. OWN_FILES are the files of the requested system; undefined when the load did not end
 * normally, and then nothing is left out. */
function withoutStyleOfLibraries<T extends Remarks>(
  remarks: T,
  ownFiles: readonly string[] | undefined,
  places: Places,
  { earlierAnswers }: CallContext,
): { filtered: T; note?: string } {
  const { warnings = [], warningCount = warnings.length } = remarks;
  // The severity `undefined` is that of a STYLE-WARNING about something undefined.
  const style = new Set<Warning['severity']>(['style-warning', 'undefined']);
  const shown = warnings.filter(
    ({ file, severity }) =>
      file === undefined || !style.has(severity) || places.isOwn(file) || ownFiles?.includes(file),
  );
  const count = warnings.length - shown.length;
  if (ownFiles === undefined || count === 0) return { filtered: remarks };
  const advice = earlierAnswers?.repeats('library warnings')
    ? ''
    : ' To see those of a library, call load_system with force: true.';
  return {
    filtered: { ...remarks, warnings: shown, warningCount: warningCount - count },
    note: `Left out: ${count} style ${count === 1 ? 'warning' : 'warnings'} in libraries.${advice}`,
  };
}

/** Returns the result of loading SYSTEM. SAME is a sentence about warnings that REPLY leaves out, because an
 * earlier answer showed them. */
export function systemResult(
  reply: Reply<'load-system'>,
  system: string,
  places: Places,
  context: CallContext,
  same = '',
): Result {
  const { missing, ...value } = reply.data.value ?? {};
  if (missing === undefined) return loadResult(reply, systemHeadline(reply, system), places, context, same);
  // SBCL's output is about the load that ended because a system is missing, so it is left out.
  const { output: _, ...quiet } = reply;
  return {
    ...loadResult(quiet, missingText({ ...value, missing }, places), places, context),
    failed: true,
    unfound: true,
  };
}

function systemHeadline({ data, ending }: Reply<'load-system'>, name: string): string {
  if (ending.kind !== 'done') return `System ${name} was not loaded to its end.`;
  const others = (data.value?.loaded ?? []).filter((loaded) => loaded !== (data.value?.system ?? name));
  if (data.value?.already)
    return data.value.unchanged
      ? `System ${name} was loaded already, and none of its ${data.value.gone === undefined ? '' : 'other '}files has changed.`
      : `System ${name} was loaded already; changed files were loaded again.`;
  return `Loaded system ${name}${others.length > 0 ? `, with ${others.join(', ')}` : ''}`;
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
      : `System ${system} was not ${done}: ${neededBy} needs ${missing}, which ASDF cannot find.`;
  if (asd !== undefined) return `${headline} ${undefinedText(asd, places)}`;
  if (installing !== undefined) return `${headline} ${manager} can install it: evaluate ${installing}.`;
  const managed =
    manager === undefined ? NO_MANAGER : (managerFailure ?? `${manager} has no system of that name either.`);
  const unloaded =
    initFile === undefined
      ? ''
      : ` Images do not load ${initFile}, which may add folders for ASDF. To load that file, ask the user to start live-lisp with --init ${initFile}.`;
  return `${headline} ${hint} ${searchedText(places.unmapped)} ${managed}${unloaded}`;
}

/** Returns sentences on the folders in which ASDF searches. UNMAPPED is the `unmapped` of Places. */
function searchedText(unmapped: string | undefined): string {
  if (unmapped === undefined)
    return "ASDF looks in the workspace, the distribution's Lisp libraries and the user's source registry.";
  return `The image ${unmapped} runs elsewhere, so ASDF looks there: in the distribution's Lisp libraries and the user's source registry. To load a system of the workspace, ask the user to start the server with --map ${unmapped}:LOCAL=REMOTE. LOCAL is a folder here, REMOTE the same folder there.`;
}

function undefinedText({ file, systems = [] }: NonNullable<MissingSystem['asd']>, places: Places): string {
  const name = places.fileName(file);
  return systems.length === 0
    ? `${name} defines no system. Write the missing defsystem there.`
    : `${name} defines no such system, only ${systems.join(', ')}. Name ${systems.length === 1 ? 'that system' : 'one of these'} instead, or write the missing defsystem there.`;
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
