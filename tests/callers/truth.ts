// What the sources of systems tell of who calls what, as oracle.lisp finds it.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { testSbcl } from '../harness.ts';

/** A use of a function in a place: a function of the name, or what KIND says with one of NAMES. */
export interface Edge {
  callee: string;
  /** The callee as it is read, with bars where it needs them. */
  asked: string;
  kind: string;
  names: string[];
  file: string;
  /** The first and the last line of the top-level form. */
  form: [number, number];
  /** Whether what the compiler does decides whether it is there. */
  maybe: boolean;
  /** Where it may be said to be: its line, or that of the form whose expansion it is in. */
  lines: number[];
}

/** Who else was asked: the pairs of callee and caller that it gives, for the callees in ASKED. */
export interface Other {
  asked: Set<string>;
  pairs: Set<string>;
}

export interface Truth {
  files: Set<string>;
  edges: Edge[];
  others: { 'sb-introspect': Other; swank: Other };
  problems: string[];
}

/** Returns what the sources of SYSTEMS tell, and what others say of each STEPth callee; of none without STEP. */
export function truthOf(systems: readonly string[], step = 0): Truth {
  const names = systems.map((name) => JSON.stringify(name)).join(' ');
  const flags = ['--noinform', '--no-sysinit', '--no-userinit', '--disable-debugger'];
  const script = ['--load', join(import.meta.dirname, 'oracle.lisp')];
  const question = `(caller-oracle:report '(${names}) ${step})`;
  const run = spawnSync(testSbcl(), [...flags, ...script, '--eval', question, '--quit'], {
    encoding: 'utf8',
    maxBuffer: 1 << 29,
  });
  if (run.status !== 0) throw new Error(`The oracle failed: ${run.stderr.slice(-2000)}`);
  const nobody = (): Other => ({ asked: new Set(), pairs: new Set() });
  const truth: Truth = {
    files: new Set(),
    edges: [],
    others: { 'sb-introspect': nobody(), swank: nobody() },
    problems: run.stderr.split('\n').filter((line) => line.startsWith('not ')),
  };
  for (const line of run.stdout.split('\n')) take(line.split('\t'), truth);
  return truth;
}

function take([kind = '', ...parts]: string[], truth: Truth): void {
  if (kind === 'file') truth.files.add(parts[0] ?? '');
  if (kind === 'unread') truth.files.delete(parts[0] ?? '');
  if (kind === 'edge') truth.edges.push(edgeOf(parts));
  const other = (truth.others as { [who: string]: Other | undefined })[kind];
  if (other === undefined) return;
  const [callee = '', callers = ''] = parts;
  other.asked.add(callee);
  for (const caller of callers.split(',').filter(Boolean)) other.pairs.add(`${callee}\t${caller}`);
}

function edgeOf(parts: string[]): Edge {
  const [callee = '', asked = '', kind = '', names = '', file = '', first, last, maybe, lines = ''] = parts;
  return {
    callee,
    asked,
    kind,
    names: names.split(',').filter(Boolean),
    file,
    form: [Number(first), Number(last)],
    maybe: maybe === '1',
    lines: lines.split(' ').filter(Boolean).map(Number),
  };
}
