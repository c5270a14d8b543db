// Builds what is needed to start an image by a command, such as ssh or docker, that starts SBCL elsewhere: the command
// line, the data for this SBCL, and the error message when the start fails.

import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readIfRegular } from '../../files/regular.ts';
import { FarPaths, mappedPath, type PathMap } from '../wire/far-paths.ts';
import { type BackendOptions, compiledBackend, sourceRegistry } from './backend.ts';
import type { BootstrapPlan } from './bootstrap.ts';
import type { ProcessCommand } from './command.ts';
import { whyUnsupported } from './sbcl-versions.ts';

/** A command that connects its stdin and stdout to a Lisp. */
export interface ImageCommand {
  /** The name of the image in messages and in --map. */
  name: string;
  words: readonly string[];
  /** Folders of this machine, with their paths where the image runs. */
  maps: readonly PathMap[];
}

/** The folder for temporary files where the image runs. */
const TEMPORARY = '/tmp';
/** Maximum number of octets of a file whose text is sent to the image. Of a larger file, only the path is sent. */
const TEXT_LIMIT = 16 * 1024 * 1024;

/** Returns an object that converts paths of this machine to paths where the image runs, and back. It also reads the
 * text of a file that the image is to load, because the image may not have this file. */
export function farPaths({ name, maps }: ImageCommand): FarPaths {
  const temporary = { here: tmpdir(), there: TEMPORARY };
  return new FarPaths(name, [...maps, temporary], (file) => {
    return readIfRegular(file, { limit: TEXT_LIMIT })?.octets.toString('latin1');
  });
}

export function commandOf({ words: [program = '', ...args] }: ImageCommand): ProcessCommand {
  return { program, args, env: process.env, encodesSignals: true };
}

export function commandText({ words }: ImageCommand): string {
  return words.map((word) => (/^[\w@%+=:,./~-]+$/.test(word) ? word : JSON.stringify(word))).join(' ');
}

/** The Lisp files that are sent first. They load the backend from the cache of the other machine, or from the sources
 * that are sent next. */
const FORMS = ['kept-backend.lisp', 'command.lisp'];

/** Returns a plan by which Bootstrap loads the backend, with OPTIONS, into the SBCL that the command of IMAGE starts.
 * The image ends when it gets no data from the server for SILENCE_MS milliseconds. THEN has the functions of the plan
 * that are called when Bootstrap cannot connect to this SBCL. */
export function imagePlan(
  options: Pick<BackendOptions, 'lispFolder' | 'cacheFolder' | 'without' | 'root' | 'trees'>,
  image: ImageCommand,
  silenceMs: number,
  then: Pick<BootstrapPlan, 'dialled' | 'failed'>,
): BootstrapPlan {
  const { lispFolder, without = [] } = options;
  const identity = compiledBackend(options).replace(/.*-/, '');
  const settings = [
    `:without "${without.join(',')}"`,
    `:silence ${silenceMs / 1000}`,
    ...placeOf(options, image),
  ];
  const call = `(live-lisp.attach::become-image "${identity}" ${settings.join(' ')})\n`;
  return {
    ...then,
    forms: () => [...FORMS.map((name) => readFileSync(join(lispFolder, name), 'latin1')), call].join('\n'),
    refusal: (facts) =>
      whyUnsupported(facts, "Install another SBCL on the image's machine, or give its path in the command."),
    sources: () => sourcesIn(lispFolder),
  };
}

/** Returns the arguments of become-image for the working directory, and for the folders in which ASDF searches. Leaves
 * out folders for which IMAGE has no map. */
function placeOf({ root, trees }: Pick<BackendOptions, 'root' | 'trees'>, image: ImageCommand): string[] {
  const mapped = (folder: string) => mappedPath(folder, image.maps);
  const [folder, ...others] = [root, ...trees].flatMap((each) => mapped(each) ?? []);
  if (folder === undefined) return [];
  const registry = sourceRegistry({ root: folder, trees: others }, undefined);
  const text = (value: string) => `"${value.replace(/[\\"]/g, '\\$&')}"`;
  return [...(mapped(root) === undefined ? [] : [`:folder ${text(folder)}`]), `:registry ${text(registry)}`];
}

/** Returns the Lisp files below FOLDER in the format that command.lisp reads: their number, and then the length, the
 * name and the content of each. */
function sourcesIn(folder: string): Buffer {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.(?:lisp|asd)$/.test(name),
  );
  const files = names.flatMap((name) => {
    const content = readFileSync(join(folder, name));
    return [Buffer.from(`${content.length} ${name}\n`), content];
  });
  return Buffer.concat([Buffer.from(`${names.length}\n`), ...files]);
}

/** The exit code with which a shell, docker and others report that a program does not exist. */
const NO_PROGRAM = 127;

interface FailedCommand {
  /** The reason, as words that follow "its command" in a sentence; undefined when only the exit code shows it. */
  problem: string | undefined;
  /** Advice that replaces the usual advice; undefined when there is none. */
  remedy: string | undefined;
  exitCode: number | undefined;
  lastLines: readonly string[];
  spawnError: string | undefined;
}

/** Returns true when live-lisp wrote the last of LINES: a command such as `ssh HOST live-lisp dial` runs live-lisp
 * there. Its last line then says why the command failed. */
function isFromLiveLisp(lines: readonly string[]): boolean {
  return lines.at(-1)?.startsWith('live-lisp: ') === true;
}

/** Returns the error message for an image whose command has failed. */
export function notStartedText(image: ImageCommand, failed: FailedCommand): string {
  const { problem, remedy, exitCode, lastLines, spawnError } = failed;
  const [program = ''] = image.words;
  if (spawnError !== undefined) {
    return `The image ${image.name} did not start: ${program} cannot be run here (${spawnError}). Install ${program}, or correct --image ${image.name}=..., and call again.`;
  }
  const why = problem ?? (exitCode === undefined ? 'was ended' : `exited with code ${exitCode}`);
  const usual = isFromLiveLisp(lastLines)
    ? `The last line of its output gives the reason: ask the user to fix that, or correct --image ${image.name}=...`
    : exitCode === NO_PROGRAM
      ? `Code 127 means that a program was not found: install SBCL on the image's machine, or give its path in --image ${image.name}=...`
      : 'Run the command in a terminal: it must start SBCL without a prompt, such as for a password or to confirm the host key.';
  return [
    `The image ${image.name} did not start: its command ${why}.`,
    ...(lastLines.length === 0 ? [] : ['Its last output:', ...lastLines.map((line) => `  ${line}`)]),
    `The command: ${commandText(image)}`,
    `${remedy ?? usual} Then call again.`,
  ].join('\n');
}
