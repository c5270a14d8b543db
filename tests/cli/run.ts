// Runs the built program as a command of its own.

import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { PROJECT, SERVER } from '../harness.ts';

export interface Run {
  code: number;
  stdout: string;
  stderr: string;
}

/** Returns the environment in which SCRIPT, JavaScript of one line, runs before the program. */
export function before(script: string): Record<string, string> {
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}` };
}

/** What hides every SBCL of the machine from the program, but none that a test puts in a temporary folder. */
export const WITHOUT_SBCL = {
  ...before(
    `const fs=process.getBuiltinModule('fs'),real=fs.accessSync;fs.accessSync=(file,...rest)=>{if(/\\/sbcl$/.test(file)&&!file.startsWith('${tmpdir()}/'))throw new Error('hidden');return real(file,...rest)}`,
  ),
  LIVE_LISP_SBCL: '',
};

/** Runs live-lisp with ARGS to its end, with nothing to read. */
export function run(args: string[], env: Record<string, string> = {}, cwd = PROJECT): Promise<Run> {
  return new Promise((resolve) => {
    const options = { cwd, env: { ...process.env, ...env } };
    const child = execFile(process.execPath, [SERVER, ...args], options, (_, stdout, stderr) => {
      resolve({ code: child.exitCode ?? -1, stdout, stderr });
    });
    child.stdin?.end();
  });
}
