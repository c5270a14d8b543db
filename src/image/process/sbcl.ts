// Finds the SBCL to start. When there is none, explains how to install it.

import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { SetupError } from '../../errors.ts';
import { isExecutable, programsOf } from '../../paths.ts';
import type { CommandSandbox } from './command.ts';
import { type SbclPlace, sbclPlaces } from './sbcl-places.ts';
import type { SbclFacts } from './sbcl-versions.ts';

const runFile = promisify(execFile);

interface ProgramOutput {
  stdout: string;
  stderr: string;
}

/** Returns the path of the sbcl to start: WANTED if it is given, else the first one on PATH, else the first one in
 * PLACES. Throws a SetupError, with advice to install SBCL, when there is none. */
export function findSbcl(
  wanted: string | undefined,
  path: string = process.env['PATH'] ?? '',
  places: () => SbclPlace[] = sbclPlaces,
): string {
  if (wanted !== undefined) {
    const file = wanted.includes('/') ? resolve(wanted) : searchPath(wanted, path);
    if (file !== undefined && isExecutable(file)) return file;
    throw new SetupError(
      `There is no executable SBCL at ${wanted}. Correct --sbcl or LIVE_LISP_SBCL, or leave both out to use the sbcl on PATH.`,
    );
  }
  const found = searchPath('sbcl', path) ?? placesWith(places())[0];
  if (found !== undefined) return found;
  throw new SetupError(
    `No sbcl was found on PATH or where package managers install it, so no Lisp image can start. ${installHint()} ` +
      'Then call again; the server need not be restarted.',
  );
}

function placesWith(places: readonly SbclPlace[]): string[] {
  return places.map(({ folder }) => join(folder, 'sbcl')).filter(isExecutable);
}

/** Returns the package manager that has installed SBCL, the path of a program, according to its folder. Returns
 * undefined when SBCL is on PATH or in none of PLACES. */
export function managerOf(
  sbcl: string,
  path: string = process.env['PATH'] ?? '',
  places: SbclPlace[] = sbclPlaces(),
): string | undefined {
  if (programsOf('sbcl', path).includes(sbcl)) return undefined;
  return places.find(({ folder }) => join(folder, 'sbcl') === sbcl)?.manager;
}

/** A form that makes SBCL print the facts about itself on a line of its own. */
const FACTS = `(format t "~&live-lisp ~A ~A~{ ~A~}~%" (lisp-implementation-version)
  (if (> (integer-length most-positive-fixnum) 32) 64 32) *features*)`;

/** Runs SBCL, the path of a program, and returns the facts that it reports. If SANDBOX is given, SBCL runs in it.
 * Throws an Error with the output when SBCL reports no facts. */
export async function askSbcl(sbcl: string, sandbox: CommandSandbox | undefined): Promise<SbclFacts> {
  const forms = [FACTS, '(sb-ext:exit)'].flatMap((form) => ['--eval', form]);
  const args = ['--noinform', '--no-sysinit', '--no-userinit', '--disable-debugger', ...forms];
  const command = { program: sbcl, args, env: process.env };
  const { program, args: words, env } = (await sandbox?.lockIn(command)) ?? command;
  const { stdout, stderr } = await runFile(program, words, { env, timeout: 60_000 }).catch(
    (error: Partial<ProgramOutput> & Error) => ({ stdout: '', stderr: error.stderr || error.message }),
  );
  const [, version, bits, features = ''] = /^live-lisp (\S+) (\d+) (.+)$/m.exec(stdout) ?? [];
  if (version === undefined) throw new Error(`it does not run, or is not SBCL: ${(stderr + stdout).trim()}`);
  return { version, bits: Number(bits), features: features.split(' ') };
}

function searchPath(name: string, path: string): string | undefined {
  return programsOf(name, path)[0];
}

const INSTALL_COMMANDS: [RegExp, string][] = [
  [/debian|ubuntu/, 'sudo apt-get install '],
  [/fedora|rhel|centos/, 'sudo dnf install '],
  [/arch/, 'sudo pacman -S '],
  [/suse/, 'sudo zypper install '],
  [/alpine/, 'sudo apk add '],
  [/nixos/, 'nix-env -iA nixos.'],
];

/** Returns the command that installs the package NAME on the system that RELEASE, the text of os-release, describes;
 * undefined for unknown systems. The package must have the same name on all systems. */
export function installCommand(name: string, release: string = readRelease()): string | undefined {
  const names = [...release.matchAll(/^(?:ID|ID_LIKE)=(.*)$/gm)].map((match) => match[1]).join(' ');
  const command = INSTALL_COMMANDS.find(([system]) => system.test(names))?.[1];
  return command === undefined ? undefined : `${command}${name}`;
}

/** Returns a sentence that says how to install SBCL on this system. */
export function installHint(platform: string = process.platform, release: string = readRelease()): string {
  if (platform === 'darwin') return 'Ask the user to install it: brew install sbcl.';
  const command = installCommand('sbcl', release);
  return command === undefined
    ? 'Ask the user to install it (https://www.sbcl.org/platform-table.html) or to name one with --sbcl PATH.'
    : `Ask the user to install it (${command}) or to name one with --sbcl PATH.`;
}

function readRelease(): string {
  return existsSync('/etc/os-release') ? readFileSync('/etc/os-release', 'utf8') : '';
}
