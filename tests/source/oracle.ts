// What SBCL itself says about the places of forms, as oracle.lisp prints it.

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { testSbcl } from '../harness.ts';

/** What SBCL says about a file: of each top-level form where the one before it ends, and where its lists begin. */
export interface Report {
  file: string;
  source: string;
  features: Set<string>;
  lines: number[][];
}

/** Returns what SBCL says to QUESTIONS, calls of functions of the oracle without their first parenthesis. */
export function askSbcl(...questions: string[]): Report[] {
  const flags = ['--noinform', '--no-sysinit', '--no-userinit', '--disable-debugger'];
  const asked = questions.flatMap((question) => ['--eval', `(position-oracle:${question})`]);
  const script = ['--load', join(import.meta.dirname, 'oracle.lisp'), ...asked, '--quit'];
  const run = spawnSync(testSbcl(), [...flags, ...script], { encoding: 'utf8', maxBuffer: 1 << 28 });
  if (run.status !== 0) throw new Error(`SBCL failed: ${run.stderr.slice(0, 2000)}`);
  return run.stdout.split(/^file /m).flatMap((text) => {
    const [file = '', features = '', ...lines] = text.trimEnd().split('\n');
    if (file === '') return [];
    const numbers = lines.map((line) => line.split(' ').slice(1).map(Number));
    return [
      { file, source: readFileSync(file, 'utf8'), features: new Set(features.split(' ')), lines: numbers },
    ];
  });
}
