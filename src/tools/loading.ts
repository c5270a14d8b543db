// Decides the tools that load files and systems.

import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { CallError } from '../errors.ts';
import type { Image, Reply } from '../image/image.ts';
import { nearest } from '../kernel/nearest.ts';
import { joinSections } from '../kernel/reply.ts';
import { type Arguments, type CallContext, defineTool, type Result } from '../kernel/tool.ts';
import { limitOption, TIMEOUT, timeoutAdvice } from './evaluation.ts';
import { conditionText, endingText, outputSection, waitedSection } from './outcome.ts';
import type { Places } from './places.ts';
import { groupedWarnings, redefinedSection } from './remarks.ts';
import { callOptions } from './symbols.ts';

const LOAD_TIMEOUT = { ...TIMEOUT, description: `${TIMEOUT.description} (600 when absent)` };

export function loadFile(image: Image, places: Places, root: string) {
  return defineTool({
    name: 'load_file',
    title: 'Load Lisp file',
    description:
      'Compile a Lisp source file and load it into the running image, so that cross references and compiler warnings exist. Nothing is written beside the source. Returns warnings by definition and line.',
    parameters: [
      { name: 'path', type: 'string', description: 'The file, relative to the workspace root' },
      LOAD_TIMEOUT,
    ],
    required: ['path'],
    safetyLevel: 'cautious',
    categories: ['execution'],
    handler: async (args, context) => {
      const file = sourceFile(root, String(args['path']));
      const folder = mkdtempSync(join(tmpdir(), 'live-lisp-'));
      const remove = () => rmSync(folder, { recursive: true, force: true });
      process.once('exit', remove);
      try {
        const reply = await image.call(
          'load-file',
          { file, fasl: join(folder, 'loaded.fasl') },
          { ...callOptions(context), ...limitOption(args['timeout']) },
        );
        return loadResult(reply, fileHeadline(reply, places.fileName(file)), places);
      } finally {
        process.off('exit', remove);
        remove();
      }
    },
  });
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

export function loadSystem(image: Image, places: Places) {
  return defineTool({
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
    safetyLevel: 'cautious',
    categories: ['execution'],
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
