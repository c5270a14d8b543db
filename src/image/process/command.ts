// Defines a command to start a program, and runs one for its exit code.

import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';

/** A program, its arguments and its environment. */
export interface Command {
  program: string;
  args: string[];
  env: NodeJS.ProcessEnv;
  /** True when the program is a wrapper that exits with 128 plus the signal number when a signal ended its child. */
  encodesSignals?: boolean;
}

/** The sandbox of images, if there is one. Each method throws a SetupError with the reason when it fails, for example
 *  because a file system hangs. */
export interface CommandSandbox {
  /** Returns the command that runs COMMAND in the sandbox. */
  lockIn(command: Command): Promise<Command>;
  /** Returns the command that runs COMMAND, which compiles the agent into the cache. Images can only read the cache. */
  lockInCompiler(command: Command): Promise<Command>;
  /** Checks that an image can run in the sandbox here. */
  check(): Promise<void>;
}

/** Runs COMMAND for at most LIMIT_MS milliseconds, with its standard streams and the wire's descriptor on /dev/null.
 *  Returns its process and its exit code. The code is undefined when a signal or the limit ended the process, or it
 *  could not be started. */
export function run(
  { program, args, env, encodesSignals }: Command,
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
