// Runs the built program as a command of its own.

import { execFile } from 'node:child_process';
import { PROJECT, SERVER } from '../harness.ts';

export interface Run {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs live-lisp with ARGS to its end; its stdin stays open. */
export function run(args: string[], env: Record<string, string> = {}, cwd = PROJECT): Promise<Run> {
  return new Promise((resolve) => {
    const options = { cwd, env: { ...process.env, ...env } };
    const child = execFile(process.execPath, [SERVER, ...args], options, (_, stdout, stderr) => {
      resolve({ code: child.exitCode ?? -1, stdout, stderr });
    });
  });
}
