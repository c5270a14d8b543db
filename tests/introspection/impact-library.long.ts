// impact_of_change against SBCL on a real library: each of its functions gets another required argument.

import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Session, startSession, temporaryFolder, testSbcl } from '../harness.ts';
import { libraries } from '../libraries.ts';
import { sharedFolder } from '../shared.ts';
import { warnedBySbcl } from './mutations.ts';

libraries('cl-ppcre');

const SOURCE = execFileSync(testSbcl(), [
  ...['--noinform', '--non-interactive', '--no-userinit', '--eval', '(require :asdf)'],
  ...['--eval', '(princ (namestring (asdf:system-source-directory :cl-ppcre)))'],
])
  .toString()
  .trim();
const FILES =
  'packages specials util errors charset charmap chartest lexer parser regex-class regex-class-util convert optimize closures repetition-closures scanner api'
    .split(' ')
    .map((name) => `${name}.lisp`);

const folder = sharedFolder();

const text = (name: string) => readFileSync(join(folder.path, name), 'utf8');

/** The beginnings of plain definitions; each gets an argument more without another line. */
const DEFUN = /^\(defun ([a-z0-9*%-]+) \((?!&)/gim;

test('every call that SBCL warns about is told, and hardly any other', async () => {
  for (const name of FILES) cpSync(join(SOURCE, name), join(folder.path, name));
  const session = await startSession({ cwd: folder.path });
  for (const path of FILES) {
    expect(await session.text('load_file', { path })).toContain(`Loaded ${path}`);
  }
  const names = FILES.flatMap((name) =>
    [...text(name).matchAll(DEFUN)].map(([, defined = '']) => defined.toLowerCase()),
  );
  expect(names.length).toBeGreaterThan(50);
  const reported = await reportedOf(session, names);
  await session.close();
  const warned = warnedAfterChange(names);
  console.log(
    `${names.length} functions, ${reported.calls} calls, ${warned.size} warned, ${reported.unfit.size} told as unfit`,
  );
  expect([...warned].filter((use) => !reported.all.has(use))).toEqual([]);
  const alarms = [...reported.unfit].filter((use) => !warned.has(use));
  expect(alarms.length, alarms.join('\n')).toBeLessThanOrEqual(Math.ceil(reported.calls / 1000));
});

/** Returns the uses, as file, line of the top-level form and name, that the tool tells when each of NAMES takes one more
 *  required argument. */
async function reportedOf(session: Session, names: readonly string[]) {
  const all = new Set<string>();
  const unfit = new Set<string>();
  let calls = 0;
  for (const name of names) {
    const arglist =
      (await session.text('function_arglist', { symbol: name, package: 'cl-ppcre' })).split('\n')[0] ?? '';
    const list = arglist.slice(arglist.indexOf('(')).replace(/^\(/, '(extra0 ');
    const args = { name, package: 'cl-ppcre', lambda_list: list, limit: 1000 };
    const answer = await session.text('impact_of_change', args);
    calls += Number(/(\d+) calls?/.exec(answer)?.[1] ?? 0);
    for (const section of answer.split('\n\n')) {
      for (const [, file = '', line] of section.matchAll(/([\w-]+\.lisp):(\d+):\d+/g)) {
        const use = `${file}:${topLevelLine(file, Number(line))} ${name}`;
        all.add(use);
        if (section.startsWith('Calls that no longer fit')) unfit.add(use);
      }
    }
  }
  return { all, unfit, calls };
}

function topLevelLine(file: string, line: number): number {
  const lines = text(file).split('\n');
  let at = line;
  while (at > 1 && !lines[at - 1]?.startsWith('(')) at--;
  return at;
}

/** Returns the same uses as a fresh SBCL warns about them. */
function warnedAfterChange(names: readonly string[]): Set<string> {
  const changed = temporaryFolder();
  for (const name of FILES) cpSync(join(folder.path, name), join(changed.path, name));
  const load = FILES.map((name) => `(load ${JSON.stringify(join(folder.path, name))})`).join('\n');
  changed.put(
    'original.lisp',
    `(eval-when (:compile-toplevel) (handler-bind ((warning #'muffle-warning)) ${load}))\n`,
  );
  const heads = FILES.flatMap((name) =>
    [...text(name).matchAll(DEFUN)].map(({ index }) => text(name).slice(index)),
  );
  const stubs = heads.map(
    (head) =>
      `(defun cl-ppcre::${head.slice('(defun '.length, endOfLambdaList(head)).replace('(', '(extra0 ')} nil)`,
  );
  changed.put('stubs.lisp', `(in-package :cl-ppcre)\n${stubs.join('\n')}\n`);
  for (const name of FILES) {
    changed.put(
      name,
      text(name).replace(DEFUN, (head) => `${head}extra0 `),
    );
  }
  const lines = warnedBySbcl(changed.path, ['original.lisp', 'stubs.lisp', ...FILES.slice(1)], 2);
  const uses = lines
    .filter((line) => /^WARNED (?!stubs)/.test(line))
    .flatMap((line) => {
      const [, file = '', offset] = line.split(' ');
      const called = /function (?:CL-PPCRE::?)?(\S+) is called/.exec(line)?.[1]?.toLowerCase();
      if (called === undefined || !names.includes(called)) return [];
      const before = readFileSync(join(changed.path, file), 'latin1').slice(0, Number(offset) + 1);
      return [`${file}:${topLevelLineAfter(file, before.split('\n').length)} ${called}`];
    });
  changed.remove();
  return new Set(uses);
}

/** Returns the line of the top-level form at LINE or the next one. */
function topLevelLineAfter(file: string, line: number): number {
  const lines = text(file).split('\n');
  let at = line;
  while (at < lines.length && !lines[at - 1]?.startsWith('(')) at++;
  return at;
}

function endOfLambdaList(head: string): number {
  let depth = 0;
  for (let i = head.indexOf('(', 1); i < head.length; i++) {
    if (head[i] === '(') depth++;
    if (head[i] === ')') depth--;
    if (depth === 0) return i + 1;
  }
  return head.length;
}
