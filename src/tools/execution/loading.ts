// Decides the tools that load files and systems.

import { createHash } from 'node:crypto';
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { CallError } from '../../errors.ts';
import { wholeContent } from '../../files/diff.ts';
import { decode } from '../../files/text.ts';
import type { Image, Reply } from '../../image/image.ts';
import { nearest } from '../../kernel/nearest.ts';
import { joinSections } from '../../kernel/reply.ts';
import {
  type Arguments,
  type CallContext,
  defineTool,
  keywordList,
  type Preview,
  type Result,
  type ToolDefinition,
} from '../../kernel/tool.ts';
import { visibleName } from '../../visible.ts';
import { callOptions, limitOption, TIMEOUT, timeoutAdvice } from '../arguments.ts';
import { conditionText, endingText, outputSection, waitedSection } from '../outcome.ts';
import type { Places } from '../places.ts';
import { groupedWarnings, redefinedSection } from '../remarks.ts';
import { withTemporaryFolder } from '../temporary.ts';

const LOAD_TIMEOUT = { ...TIMEOUT, description: `${TIMEOUT.description} (600 when absent)` };

const LOAD_FILE: Omit<ToolDefinition, 'handler'> = {
  name: 'load_file',
  title: 'Load Lisp file',
  description:
    'Compile a Lisp source file and load it into the running image, so that cross references and compiler warnings exist. Nothing is written beside the source. Returns warnings by definition and line.',
  parameters: [
    { name: 'path', type: 'string', description: 'The file, relative to the workspace root' },
    LOAD_TIMEOUT,
  ],
  required: ['path'],
  limitMs: Number.POSITIVE_INFINITY,
  safetyLevel: 'cautious',
  categories: ['execution'],
  shortDescription: 'Compile a Lisp source file and load it',
  complexity: 'moderate',
  keywords: keywordList(`
    compile file, compiler warnings, reload, source file, recompile after editing, syntax check, lint,
    does it compile, .lisp, compilation errors, diagnostics, style warnings notes, problems, unbalanced
    or missing parentheses, apply an edit, apply a patch file, pick up changes, edited, hot reload,
    nodemon, watch, refresh from disk, read again, modified, saved, changed on disk, stale out of date,
    sync, update, latest version, rebuild a single module, run or execute a script, buffer, type check,
    include, fasl, C-c C-k, C-c C-l`),
};

export function loadFile(image: Image, places: Places, root: string) {
  return defineTool({
    ...LOAD_FILE,
    preview: async (args) => loadPreview(places, sourceFile(root, String(args['path']))),
    handler: async (args, context) => {
      const file = sourceFile(root, String(args['path']));
      return withTemporaryFolder(async (folder) => {
        const reply = await image.call(
          'load-file',
          { file, fasl: join(folder, 'loaded.fasl') },
          { ...callOptions(context), ...limitOption(args['timeout']) },
        );
        return loadResult(reply, fileHeadline(reply, places.fileName(file)), places);
      });
    },
  });
}

/** Returns what a human is shown of FILE before it is loaded; what they approve holds for that content only. */
function loadPreview(places: Places, file: string): Preview {
  const place = places.fileName(realpathSync(file));
  const bytes = readFileSync(file);
  const fingerprint = createHash('sha256').update(bytes).digest('hex');
  return { text: wholeContent(visibleName(place), decode(bytes)), place, fingerprint };
}

function sourceFile(root: string, path: string): string {
  if (path.includes('\0')) throw new CallError('The path must not contain a NUL character.');
  const file = resolve(root, path);
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined) throw new CallError(`There is no file ${file}. Relative paths start at ${root}.`);
  if (!stats.isFile()) throw new CallError(`${file} is not a file. Name a Lisp source file.`);
  return file;
}

function fileHeadline({ data, ending }: Reply<'load-file'>, name: string): string {
  if (data.value?.notLoaded)
    return `Not loaded: ${name} could not be compiled. What it does at compile time (packages, macros) may be in the image.`;
  if (ending.kind !== 'done' && data.phase === 'compile')
    return `Not loaded: the compilation of ${name} was left early. What it did at compile time until then (packages, macros) is in the image.`;
  if (ending.kind !== 'done') return `${name} was not loaded to its end; the forms before were.`;
  return data.value?.failed
    ? `Loaded ${name}, but some forms have errors (below) and will signal when they run.`
    : `Loaded ${name}`;
}

const LOAD_SYSTEM: Omit<ToolDefinition, 'handler'> = {
  name: 'load_system',
  title: 'Load ASDF system',
  description:
    "Load an ASDF system, and what it depends on, into the running image. Any system that ASDF can find: in the workspace, installed by the distribution, or in the user's source registry. Returns what was loaded and warnings by file.",
  parameters: [
    { name: 'system', type: 'string', description: 'System name, for example alexandria or my-app/tests' },
    { name: 'force', type: 'boolean', description: 'Compile and load the system itself again' },
    LOAD_TIMEOUT,
  ],
  required: ['system'],
  limitMs: Number.POSITIVE_INFINITY,
  safetyLevel: 'cautious',
  categories: ['execution'],
  shortDescription: 'Load an ASDF system with what it depends on',
  complexity: 'moderate',
  keywords: keywordList(`
    ASDF, quicklisp, quickload, load a library, dependency, import a package, install, build the
    project, .asd, defsystem, require, pip install, npm install, cargo, maven mvn, gradle, nuget, jar
    classpath, make, add a package add a reference, pull in, bring in, get it into the session, put it
    back, make available, use a third-party library, prerequisite, framework, client, parser, library
    missing, is it installed on this machine, ModuleNotFoundError, package not found does not exist,
    whole application, all files in order, compile the entire project, rebuild the solution, code base
    codebase, repository, reload everything, start up boot bootstrap setup, initialize, test system load
    the tests, from scratch, after a restart, qlot ocicl`),
};

export function loadSystem(image: Image, places: Places) {
  return defineTool({
    ...LOAD_SYSTEM,
    handler: async (args, context) => loadNamedSystem(image, places, args, context),
  });
}

async function loadNamedSystem(
  image: Image,
  places: Places,
  args: Arguments,
  context: CallContext,
): Promise<Result> {
  const system = String(args['system']);
  const reply = await image.call(
    'load-system',
    { name: system, force: args['force'] === true },
    { ...callOptions(context), ...limitOption(args['timeout']) },
  );
  const { value } = reply.data;
  if (value?.missing !== undefined) {
    const similar = nearest(value.missing, value.known ?? []);
    const hint =
      similar.length > 0 ? `Similar names: ${similar.join(', ')}.` : 'No system has a similar name.';
    return {
      data: value,
      text: `System ${value.missing} not found by ASDF. ${hint} It looks in the workspace, the distribution's Lisp libraries and the user's source registry.`,
      failed: true,
    };
  }
  return loadResult(reply, systemHeadline(reply, system), places);
}

function systemHeadline({ data, ending }: Reply<'load-system'>, name: string): string {
  if (ending.kind !== 'done') return `System ${name} was not loaded to its end.`;
  const loaded = (data.value?.loaded ?? []).filter((each) => each !== name.toLowerCase());
  if (data.value?.already) return `System ${name} was loaded already; changed files were loaded again.`;
  return `Loaded system ${name}${loaded.length > 0 ? `, with ${loaded.join(', ')}` : ''}`;
}

function loadResult(
  { ending, output, data, waitedMs }: Reply<'load-file'> | Reply<'load-system'>,
  headline: string,
  places: Places,
): Result {
  const failed = ending.kind !== 'done' || (data.value !== undefined && 'notLoaded' in data.value);
  const text = joinSections([
    headline,
    ending.kind === 'condition' ? conditionText(ending.condition) : endingText(ending),
    timeoutAdvice(ending),
    groupedWarnings(data, places),
    redefinedSection(data),
    outputSection(output),
    waitedSection(waitedMs),
  ]);
  return { data: { ...data.value, ending }, text, failed };
}
