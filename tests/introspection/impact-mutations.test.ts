// impact_of_change against SBCL: lambda lists change at random, and a fresh SBCL compiles all calls.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startSession } from '../harness.ts';
import { LONG, PATIENCE_MS } from '../long.ts';
import { randomFrom } from '../random.ts';
import { sharedFolder } from '../shared.ts';
import {
  callers,
  definitions,
  generatedFunction,
  lambdaListText,
  mutated,
  warnedBySbcl,
} from './mutations.ts';

const folder = sharedFolder();

const FUNCTIONS = LONG ? 200 : 30;
const CALLERS = LONG ? 6000 : 90;

test(
  `every call that SBCL warns about when ${FUNCTIONS} lambda lists change is told, and hardly any other`,
  async () => {
    const random = randomFrom(LONG ? 11 : 4);
    const before = Array.from({ length: FUNCTIONS }, (_, number) => generatedFunction(number, random));
    const after = before.map((each) => mutated(each, random));
    const write = (name: string, text: string) => folder.put(name, text);
    write('package.lisp', '(defpackage :mutated (:use :cl))\n');
    write('callees.lisp', definitions(before));
    write('callers.lisp', callers(before, CALLERS, random));
    const reported = await reportedOf(after.map((each) => [each.name, lambdaListText(each)]));
    write('callees.lisp', definitions(after));
    const lines = warnedBySbcl(folder.path, ['package.lisp', 'callees.lisp', 'callers.lisp']);
    expect(lines.filter((line) => line.startsWith('FAILED'))).toEqual([]);
    const warned = new Set(lines.map(warnedUse));
    expect(warned.size).toBeGreaterThan(FUNCTIONS);
    const missed = [...warned].filter((use) => !reported.all.has(use));
    expect(missed).toEqual([]);
    const alarms = [...reported.unfit].filter((use) => !warned.has(use));
    expect(reported.unfit.size).toBeGreaterThan(warned.size / 2);
    expect(alarms.length, alarms.join('\n')).toBeLessThanOrEqual(reported.calls / 1000);
  },
  PATIENCE_MS,
);

/** Returns the uses that the tool tells of each function when it gets the lambda list that stands with it. */
async function reportedOf(changes: [string, string][]) {
  const session = await startSession({ cwd: folder.path });
  for (const name of ['package', 'callees', 'callers']) {
    expect(await session.text('load_file', { path: `${name}.lisp` })).toContain(`Loaded ${name}.lisp`);
  }
  const all = new Set<string>();
  const unfit = new Set<string>();
  let calls = 0;
  for (const [name, list] of changes) {
    const args = { name, package: 'mutated', lambda_list: list, limit: 1000 };
    const text = await session.text('impact_of_change', args);
    calls += Number(/(\d+) calls?/.exec(text)?.[1] ?? 0);
    for (const section of text.split('\n\n')) {
      for (const [, line] of section.matchAll(/callers\.lisp:(\d+):\d+/g)) {
        const use = `${topLevelLine(Number(line))} ${name}`;
        all.add(use);
        if (section.startsWith('Calls that no longer fit')) unfit.add(use);
      }
    }
  }
  await session.close();
  return { all, unfit, calls };
}

let text: string[] | undefined;

/** Returns the line at which the top-level form begins that LINE is in. */
function topLevelLine(line: number): number {
  text ??= readFileSync(join(folder.path, 'callers.lisp'), 'utf8').split('\n');
  let at = line;
  while (at > 1 && !text[at - 1]?.startsWith('(')) at--;
  return at;
}

/** Returns the use that LINE, a warning of SBCL, is about. */
function warnedUse(line: string): string {
  const [, , offset = ''] = line.split(' ');
  const whole = readFileSync(join(folder.path, 'callers.lisp'), 'utf8');
  const at = whole.slice(0, Number(offset)).split('\n').length;
  const start = whole[Number(offset)] === '(' ? at : at + 1;
  const number = /CALLEE-(\d+)|:[A-Z]+-(\d+)/.exec(line);
  return `${start} callee-${number?.[1] ?? number?.[2]}`;
}
