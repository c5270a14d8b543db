// Defines a command, which starts a program, and runs commands of which only the exit code matters.

import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';

/** A program, its arguments and its environment. */
export interface ProcessCommand {
  program: string;
  args: string[];
  env: NodeJS.ProcessEnv;
  /** True when the program is a wrapper that exits with 128 plus the number of the signal when a signal has
   *  ended the program in it. */
  encodesSignals?: boolean;
}

/** A sandbox in which images run. Each method throws a SetupError with the reason when it fails, for example
 *  because a file system does not answer. */
export interface CommandSandbox {
  /** Returns the command that runs COMMAND in the sandbox. FASLS is the folder for the fasls of systems, if not the
   *  one that the sandbox has for them, and ROOT the working directory, if not the root. */
  lockIn(command: ProcessCommand, fasls?: string, root?: string): Promise<ProcessCommand>;
  /** Returns the command that runs COMMAND, which writes the compiled agent or a core into the cache, in a
   *  sandbox that can write there. Images can only read the cache. */
  lockInCompiler(command: ProcessCommand): Promise<ProcessCommand>;
  /** Checks that an image can run in the sandbox here. */
  check(): Promise<void>;
}

/** Runs a command for at most LIMIT_MS milliseconds. Its standard streams, and the descriptor on which an
 *  agent would connect to the server, are /dev/null. Returns the process and a promise of its exit code,
 *  which is undefined when the process could not be started, or a signal or the limit ended it. */
export function runCommand(
  { program, args, env, encodesSignals }: ProcessCommand,
  limitMs: number,
): { process: ChildProcess; code: Promise<number | undefined> } {
  const nowhere = openSync(devNull, 'r+');
  const stdio = [nowhere, nowhere, nowhere, nowhere];
  const process = spawn(program, args, { env, stdio, timeout: limitMs, killSignal: 'SIGKILL' });
  closeSync(nowhere);
  const code = new Promise<number | undefined>((resolve) => {
    process.on('error', () => resolve(undefined));
    process.on('exit', (code) => {
      const isSignal = code === null || (encodesSignals === true && code >= 128);
      resolve(isSignal ? undefined : code);
    });
  });
  return { process, code };
}
