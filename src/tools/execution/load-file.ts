// The tool load_file, which compiles and loads a source file, or only compiles it.

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
import type { Reply } from '../../image/wire/call.ts';
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
import { DEBUG_LEVEL, errorOptions, heldResultOr, ON_ERROR, RESTARTS } from '../debug/hold.ts';
import { freshWarnings } from '../shown-warnings.ts';
import { sourceFile } from '../source-file.ts';
import { type LoadContext, loadResult, twinsText } from './load-text.ts';

const LOAD_FILE = {
  name: 'load_file',
  description:
    'Compile and load a saved Lisp source file from disk into the running image, or reload it after an edit, with warnings by line. For a whole project use load_system. Shows where image and file differ.',
  parameters: [
    { name: 'path', type: 'string', description: 'Such as src/utils.lisp' },
    {
      name: 'forget',
      type: 'boolean',
      description: 'Remove from the image what was listed as no longer in the file',
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

type LoadArguments = ArgumentsFor<typeof LOAD_FILE>;

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
          ? checkFile(image, load, { ...args, file, fasl: join(folder, 'checked.fasl') }, context)
          : loadFileBy(image, load, { ...args, file, fasl: join(folder, 'loaded.fasl'), keep }, context),
      );
    },
  });
}

/** Returns the preview that a human sees before FILE is loaded. An approval covers only the current content of FILE. */
async function loadPreview(
  workspace: Workspace,
  file: string,
  { check, forget }: LoadArguments,
): Promise<Preview> {
  const real = await realPathOf(file);
  const place = workspace.name(real);
  // With `head`, reading a file that is too large throws no error, so that the error below can give advice.
  const bounds = { limit: WHOLE_FILE_LIMIT, head: true, forbids: (each: string) => workspace.forbids(each) };
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
    ? questionLine`, then to remove from the image what earlier answers listed as no longer in the file`
    : questionLine``;
  const what = check ? questionLine`to compile, not to load` : questionLine`to compile and run${forgetNote}`;
  const summary = questionLine`${lines} ${what}`;
  return { ...wholeContentDiff(questionLine`File ${place}`, text), summary, place, fingerprint };
}

/** The arguments of a load of `file`. While an error of the load waits in the debugger, `keep` prevents the deletion of
 * the folder with `fasl`. */
type FileLoad = Omit<LoadArguments, 'path'> & { file: string; fasl: string; keep?: KeepFolder };

/** Compiles `file` to `fasl`, loads it in IMAGE, and returns the result. If `forget` is true, the backend removes the
 * definitions that are gone from `file`, but only if answers have listed all of them ('listed'). */
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

/** Returns the headline for a load. `begun` says that a later form could not be read, after the forms before it were
 * loaded. It comes first, because `notLoaded` is then true too. */
function fileHeadline({ data, ending }: Reply<'load-file'>, name: string): string {
  if (data.value?.begun) return `${name} was loaded only up to the form where loading stopped.`;
  if (data.value?.notLoaded)
    return `Not loaded: ${name} could not be compiled. Its compile-time effects (packages, macros) may be in the image.`;
  if (ending.kind !== 'done' && data.phase === 'compile')
    return `Not loaded: the compilation of ${name} did not finish. Its compile-time effects so far (packages, macros) stay in the image.`;
  // The image was lost, and with it the definitions that were loaded from the file.
  if (ending.kind === 'lost') return `${name} was not loaded to its end.`;
  if (ending.kind !== 'done') return `${name} was loaded only up to the form where loading stopped.`;
  return data.value?.failed
    ? `Loaded ${name}, but with compile errors (below): running that code signals them.`
    : `Loaded ${name}`;
}

/** Compiles `file` to `fasl` without loading it. Returns the result with all errors and warnings, also those that an
 * earlier answer has shown. The operation check-file does not take on_error, restarts and debug_level, so they are
 * ignored. */
async function checkFile(
  image: Image,
  { places }: LoadContext,
  { file, fasl, ...args }: FileLoad,
  context: CallContext,
): Promise<Result> {
  const options = { ...callOptions(context), ...limitOption(args) };
  const reply = await image.call('check-file', { file, fasl }, options);
  const { data, ending } = reply;
  const { value, warnings = [], warningCount = 0 } = data;
  const headline = `${checkHeadline(reply, places.fileName(file))} It was not loaded; the effects of its compile-time code stay.`;
  const result = loadResult(reply, headline, places, context);
  return { ...result, data: { ...value, warnings, warningCount, ending } };
}

function checkHeadline({ data, ending }: Reply<'check-file'>, name: string): string {
  if (ending.kind !== 'done') return `The compilation of ${name} did not finish.`;
  if (data.value?.notLoaded) return `${name} could not be compiled.`;
  const hasWarnings = data.warnings !== undefined && data.warnings.length > 0;
  return `${name} compiles ${hasWarnings ? 'with warnings' : 'without warnings'}.`;
}
