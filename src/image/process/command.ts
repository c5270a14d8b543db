// Decides what it takes to start a program, and to lock it in.

import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';

/** What is run, and with which environment. */
export interface Command {
  program: string;
  args: string[];
  env: NodeJS.ProcessEnv;
  /** Whether it exits with 128 and the number of the signal, as a shell does, when that ended what it runs. */
  tellsSignals?: boolean;
}

/** The sandbox that images run in, if there is one. Each function throws a SetupError with the reason when it fails, for
 *  example because a file system hangs. */
export interface Cell {
  /** Returns how COMMAND is run in it. */
  lockIn(command: Command): Promise<Command>;
  /** Returns how COMMAND is run, which puts the compiled agent into the cache: images in it can only read that. */
  lockInCompiler(command: Command): Promise<Command>;
  /** Finds out whether an image can be locked in here. */
  check(): Promise<void>;
}

/** Runs COMMAND for at most LIMIT_MS milliseconds, with nothing to read and nobody who reads, also on the descriptor of
 *  the wire. Returns its process, and its exit code; that is undefined when a signal or the limit ended it, or it could
 *  not be started. */
export function run(
  { program, args, env, tellsSignals }: Command,
  limitMs: number,
): { process: ChildProcess; code: Promise<number | undefined> } {
  const nowhere = openSync(devNull, 'r+');
  const stdio = [nowhere, nowhere, nowhere, nowhere];
  const process = spawn(program, args, { env, stdio, timeout: limitMs, killSignal: 'SIGKILL' });
  closeSync(nowhere);
  const code = new Promise<number | undefined>((resolve) => {
    process.on('error', () => resolve(undefined));
    process.on('exit', (code) => {
      const isSignal = code === null || (tellsSignals === true && code >= 128);
      resolve(isSignal ? undefined : code);
    });
  });
  return { process, code };
}
