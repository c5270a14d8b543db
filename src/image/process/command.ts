// Defines a command, which starts a program, and runs commands for their exit codes.

import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';

/** A program, with its arguments and its environment. */
export interface ProcessCommand {
  program: string;
  args: string[];
  env: NodeJS.ProcessEnv;
  /** True for a program that runs another one, and exits with 128 plus the signal's number when a signal has ended the
   * other one. */
  encodesSignals?: boolean;
}

/** A sandbox for images. Each method throws a SetupError when it fails, for example because a file system does not
 * answer. */
export interface CommandSandbox {
  /** Returns the command that runs `command` in the sandbox. `fasls` is the folder for fasls of systems, by default one
   * of the sandbox. `root` is the working directory, by default the root of the workspace. */
  lockIn(command: ProcessCommand, fasls?: string, root?: string): Promise<ProcessCommand>;
  /** Returns the command that runs `command` in a sandbox where it can write to the cache. It is used only to compile
   * the backend and to save a core. */
  lockInCompiler(command: ProcessCommand): Promise<ProcessCommand>;
  check(): Promise<void>;
}

/** Runs a command for at most LIMIT_MS milliseconds. Its standard streams and the descriptor of the backend's
 * connection are /dev/null. Returns the process, and a promise of the exit code. The promise resolves with undefined
 * when the start failed, a signal ended the process, or the time was up. */
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
