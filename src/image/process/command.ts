// Defines a command, which starts a program, and runs commands for their exit codes.

import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';

/** A program, its arguments and its environment. */
export interface ProcessCommand {
  program: string;
  args: string[];
  env: NodeJS.ProcessEnv;
  /** True for a wrapper that exits with 128 plus the signal's number when a signal has ended the program in
   *  it. */
  encodesSignals?: boolean;
}

/** A sandbox for images. Each method throws a SetupError with the reason of a failure, such as a file system
 *  that does not answer. */
export interface CommandSandbox {
  /** Returns the command that runs `command` in the sandbox. `fasls` is the folder for fasls of systems, by
   *  default that of the sandbox. `root` is the working directory, by default the workspace root. */
  lockIn(command: ProcessCommand, fasls?: string, root?: string): Promise<ProcessCommand>;
  /** Returns the command that runs `command` in a sandbox with write access to the cache. Only the
   *  compilation of the agent and the saving of a core need this. */
  lockInCompiler(command: ProcessCommand): Promise<ProcessCommand>;
  check(): Promise<void>;
}

/** Runs a command for at most LIMIT_MS milliseconds. Its standard streams and the descriptor for the agent
 *  are /dev/null. Returns the process and a promise of its exit code. The code is undefined after a failed
 *  start, a signal, or the limit. */
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
