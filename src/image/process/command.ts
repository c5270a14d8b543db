// Decides what it takes to start a program, and to lock it in.

import { type ChildProcess, execFile } from 'node:child_process';

/** What is run, and with which environment. */
export interface Command {
  program: string;
  args: string[];
  env: NodeJS.ProcessEnv;
  /** Whether it exits with 128 and the number of the signal, as a shell does, when that ended what it runs. */
  tellsSignals?: boolean;
}

/** What images are locked in, where they are. Each function throws a SetupError that says why it cannot. */
export interface Cell {
  /** Returns how COMMAND is run in it. */
  lockIn(command: Command): Command;
  /** Returns how COMMAND is run, which puts the compiled agent into the cache: images in it can only read that. */
  lockInCompiler(command: Command): Command;
  /** Finds out whether an image can be locked in here. */
  check(): Promise<void>;
}

/** Runs COMMAND for at most LIMIT_MS milliseconds. Returns its process, and whether it succeeds. */
export function run(
  { program, args, env }: Command,
  limitMs: number,
): { process: ChildProcess; succeeds: Promise<boolean> } {
  let done: (succeeded: boolean) => void = () => {};
  const succeeds = new Promise<boolean>((resolve) => {
    done = resolve;
  });
  const options = { env, timeout: limitMs, killSignal: 'SIGKILL' } as const;
  return { process: execFile(program, args, options, (error) => done(error === null)), succeeds };
}
