// Finds and runs the command line program of a client.

import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process';
import { SetupError } from '../errors.ts';
import { programsOf } from '../paths.ts';
import { visibleLine } from '../visible.ts';
import type { InstallContext } from './clients.ts';

/** Milliseconds in which a client's program must end. A program that runs longer probably waits for input. */
const LIMIT_MS = 60_000;

/** Returns the path of the program NAME, from PATH in ENVIRONMENT; undefined when there is none. */
export function findProgram(name: string | undefined, { environment }: InstallContext): string | undefined {
  if (name === undefined) return undefined;
  return programsOf(name, environment['PATH'] ?? '')[0];
}

/** Runs PROGRAM with ARGS in the project of CONTEXT. If it fails, throws a SetupError with its output. */
export function runClientProgram(
  program: string,
  args: readonly string[],
  context: InstallContext,
): Promise<void> {
  const options = { cwd: context.project, env: context.environment, timeout: LIMIT_MS };
  return new Promise((resolve, reject) => {
    const child = execFile(program, args, options, (error, stdout, stderr) => {
      if (error === null) return resolve();
      const output = `${stderr}\n${stdout}`.trim() || error.message;
      reject(
        new SetupError(`${shellLine([program, ...args])} failed: ${output}\nFix that, and run this again.`),
      );
    });
    child.stdin?.end();
  });
}

/** Starts a program with arguments in the project of a context. MORE are further environment variables. */
export function startProgram(
  [program = '', ...args]: readonly string[],
  more: NodeJS.ProcessEnv,
  { project, environment }: InstallContext,
): ChildProcessWithoutNullStreams {
  return spawn(program, args, { cwd: project, env: { ...environment, ...more } });
}

/** Returns WORDS as a shell command in one line. A project can contain names with hidden characters, so these are shown
 * by their codes. */
export function shellLine(words: readonly string[]): string {
  return visibleLine(
    words
      .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`))
      .join(' '),
  );
}
