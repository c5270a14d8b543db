// Says how an image is made of a command that starts an SBCL elsewhere, such as ssh or docker.

import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readIfRegular } from '../../files/regular.ts';
import { FarPaths, type PathMap } from '../wire/far-paths.ts';
import { type AgentOptions, compiledAgent, sourceRegistry } from './agent.ts';
import type { BootstrapPlan } from './bootstrap.ts';
import type { ProcessCommand } from './command.ts';
import { whyUnsupported } from './sbcl-versions.ts';

/** A command whose stdin and stdout lead to a Lisp, and the name by which the image is known. */
export interface ImageCommand {
  name: string;
  words: readonly string[];
  /** Folders of this machine and the names that they have where the image is. */
  maps: readonly PathMap[];
}

/** Folder for temporary files of an image elsewhere. It makes those itself that the server names. */
const TEMPORARY = '/tmp';
/** Size limit, in octets, of a file whose text is sent to the image together with its name. Of a larger
 *  file only the name is sent. */
const TEXT_LIMIT = 16 * 1024 * 1024;

/** Returns the translation of paths for IMAGE. */
export function farPaths({ name, maps }: ImageCommand): FarPaths {
  const temporary = { here: tmpdir(), there: TEMPORARY };
  return new FarPaths(name, [...maps, temporary], (file) => {
    return readIfRegular(file, { limit: TEXT_LIMIT })?.octets.toString('latin1');
  });
}

/** Returns how the process of IMAGE is started. */
export function commandOf({ words: [program = '', ...args] }: ImageCommand): ProcessCommand {
  return { program, args, env: process.env, encodesSignals: true };
}

/** Returns IMAGE's command as one line, for people. */
export function commandText({ words }: ImageCommand): string {
  return words.map((word) => (/^[\w@%+=:,./~-]+$/.test(word) ? word : JSON.stringify(word))).join(' ');
}

/** Files that are sent to an SBCL elsewhere before its agent. */
const FORMS = ['kept-agent.lisp', 'command.lisp'];

/** Returns the plan by which an SBCL elsewhere becomes an image with the agent of OPTIONS. SILENCE_MS is how long
 *  the server may say nothing to the image before that ends. */
export function imagePlan(
  options: Pick<AgentOptions, 'lispFolder' | 'cacheFolder' | 'without' | 'root' | 'trees'>,
  image: ImageCommand,
  silenceMs: number,
  then: Pick<BootstrapPlan, 'dialled' | 'failed'>,
): BootstrapPlan {
  const { lispFolder, without = [] } = options;
  const identity = compiledAgent(options).replace(/.*-/, '');
  const settings = [
    `:without "${without.join(',')}"`,
    `:silence ${silenceMs / 1000}`,
    ...placeOf(options, image),
  ];
  const call = `(live-lisp.attach::become-image "${identity}" ${settings.join(' ')})\n`;
  return {
    ...then,
    forms: () => [...FORMS.map((name) => readFileSync(join(lispFolder, name), 'latin1')), call].join('\n'),
    refusal: (facts) => whyUnsupported(facts, 'Install another there, or name it in the command.'),
    sources: () => sourcesIn(lispFolder),
  };
}

/** Returns the arguments that tell IMAGE its folder, and where ASDF looks for systems, as far as its maps have the
 *  folders of OPTIONS. */
function placeOf({ root, trees }: Pick<AgentOptions, 'root' | 'trees'>, image: ImageCommand): string[] {
  const paths = new FarPaths(image.name, image.maps, () => undefined);
  const mapped = [root, ...trees].filter((folder) => paths.there(folder) !== folder);
  if (mapped.length === 0) return [];
  const [folder = '', ...others] = mapped.map((each) => paths.there(each));
  const registry = sourceRegistry({ root: folder, trees: others }, undefined);
  const text = (value: string) => `"${value.replace(/[\\"]/g, '\\$&')}"`;
  return [...(mapped.includes(root) ? [`:folder ${text(folder)}`] : []), `:registry ${text(registry)}`];
}

/** Returns the Lisp files in FOLDER and below as command.lisp reads them: their count, and then for each its
 *  length, name and content. */
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

/** Code with which a shell, docker and others exit when there is no such program. */
const NO_PROGRAM = 127;

/** What is known of a command that did not become an image. */
interface FailedCommand {
  /** Why, as in Child. */
  problem: string | undefined;
  remedy: string | undefined;
  exitCode: number | undefined;
  lastLines: readonly string[];
  /** Why its program could not be started, if it could not. */
  spawnError: string | undefined;
}

/** True when live-lisp itself wrote the last of LINES, as `live-lisp dial` does: it says why. */
function saysItself(lines: readonly string[]): boolean {
  return lines.at(-1)?.startsWith('live-lisp: ') === true;
}

/** Returns the text for IMAGE, whose command FAILED. */
export function notStartedText(image: ImageCommand, failed: FailedCommand): string {
  const { problem, remedy, exitCode, lastLines, spawnError } = failed;
  const [program = ''] = image.words;
  if (spawnError !== undefined) {
    return `The image ${image.name} did not start: ${program} cannot be run here (${spawnError}). Install ${program}, or correct --image ${image.name}=..., and call again.`;
  }
  const why = problem ?? (exitCode === undefined ? 'was ended' : `exited with code ${exitCode}`);
  const usual = saysItself(lastLines)
    ? `live-lisp runs there and says why: have the user mend that, or correct --image ${image.name}=...`
    : exitCode === NO_PROGRAM
      ? `There is no program of that name there: install SBCL there, or give its path in --image ${image.name}=...`
      : 'Try it in a terminal: it has to start SBCL without asking anything, such as for a password or whether a host is known.';
  return [
    `The image ${image.name} did not start: its command ${why}.`,
    ...(lastLines.length === 0 ? [] : ['It wrote last:', ...lastLines.map((line) => `  ${line}`)]),
    `The command: ${commandText(image)}`,
    `${remedy ?? usual} Then call again.`,
  ].join('\n');
}
