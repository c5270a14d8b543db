// impact_of_change of definitions that go away, against SBCL: each is left out, and all is compiled anew.

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startSession } from '../harness.ts';
import { LONG, PATIENCE_MS } from '../long.ts';
import { randomFrom } from '../random.ts';
import { sharedFolder } from '../shared.ts';
import { brokenInSbcl, generated, type Unit } from './removals.ts';

const folder = sharedFolder();

const DEFINITIONS = LONG ? 150 : 15;
const USERS = LONG ? 12 : 6;

test(
  `each form that breaks when one of ${DEFINITIONS} definitions is left out is told, and few others`,
  async () => {
    const units = generated(DEFINITIONS, USERS, randomFrom(LONG ? 5 : 2));
    const first = units.findIndex(({ kind }) => kind === 'users');
    const write = (name: string, of: readonly Unit[]) =>
      folder.put(name, `${of.map(({ text }) => text).join('\n')}\n`);
    write('program.lines', units);
    write('definitions.lisp', units.slice(0, first));
    write('users.lisp', units.slice(first));
    const removed = units.filter(({ asked }) => asked !== undefined);
    const broken = brokenInSbcl(folder.path, join(folder.path, 'program.lines'), [
      0,
      ...removed.map(({ line }) => line),
    ]);
    const always = broken.get(0) ?? new Map();
    const reported = await reportedOf(removed, first);
    const missed: string[] = [];
    const alarms: string[] = [];
    let found = 0;
    for (const { line, asked = '' } of removed) {
      const lines = reported.get(line) ?? new Set();
      const breaks = broken.get(line) ?? new Map();
      for (const at of lines) if (!breaks.has(at)) alarms.push(`${asked}: ${units[at - 1]?.text}`);
      for (const [at, how] of breaks) {
        if (always.get(at) === how) continue;
        found++;
        if (!lines.has(at)) missed.push(`${asked}: ${how}: ${units[at - 1]?.text}`);
      }
    }
    expect(missed).toEqual([]);
    expect(found).toBeGreaterThan(DEFINITIONS);
    expect(alarms.length, alarms.join('\n')).toBeLessThan(found / 5);
  },
  PATIENCE_MS,
);

/** Returns, by the line of each of REMOVED, the lines that the tool tells for it. */
async function reportedOf(removed: readonly Unit[], first: number): Promise<Map<number, Set<number>>> {
  const session = await startSession({ cwd: folder.path });
  for (const path of ['definitions.lisp', 'users.lisp'])
    expect(await session.text('load_file', { path })).toContain(`Loaded ${path}`);
  const reported = new Map<number, Set<number>>();
  for (const { line, asked = '' } of removed) {
    const text = await session.text('impact_of_change', { name: asked, package: 'removed', limit: 1000 });
    reported.set(line, linesIn(text.split('\n\ndefinitions.lisp:')[0] ?? '', first));
  }
  await session.close();
  return reported;
}

/** Returns the lines of the program that TEXT names. Those of users.lisp begin behind the line FIRST. */
function linesIn(text: string, first: number): Set<number> {
  const found = new Set<number>();
  for (const row of text.split('\n')) {
    const [, shared] = / in (definitions|users)\.lisp: /.exec(row) ?? [];
    for (const [, file = shared, line] of row.matchAll(/(?:(definitions|users)\.lisp:| )(\d+):\d+/g))
      if (file !== undefined) found.add(Number(line) + (file === 'users' ? first : 0));
  }
  return found;
}
