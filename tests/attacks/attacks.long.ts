// More attacks than `make test` has time for, by section, and what came of each: `make check-long` writes docs/develop/attacks.md.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type FileSession, openWorkspace } from '../files/sessions.ts';
import { type Attack, type Section, writeSections } from './attack.ts';
import { growingAttacks } from './growing.ts';
import { readingAttacks } from './reading.ts';
import { runningAttacks } from './running.ts';

let at: FileSession;
const sections: Section[] = [];
beforeAll(async () => {
  at = await openWorkspace({ args: ['--eval-timeout', '20'] });
});
afterAll(async () => {
  await writeSections(sections);
  await at.close();
});

const SECTIONS: [string, () => Attack[] | Promise<Attack[]>][] = [
  ['Files that are no sources', () => readingAttacks(at)],
  ['Texts that take time', () => growingAttacks(at)],
  ['What is run from the disk', runningAttacks],
];

describe.each(SECTIONS)('%s', (title, attacks) => {
  test('comes to nothing', async () => {
    const rows: Section['rows'] = [];
    sections.push({ title, rows });
    for (const { name, try: attempt } of await attacks()) {
      const breach = await attempt().catch((error: unknown) => String(error));
      rows.push({ name, ...(breach !== undefined && { breach }) });
      console.log(
        `${breach === undefined ? 'ok  ' : 'FAIL'} ${title}: ${name}${breach === undefined ? '' : `: ${breach}`}`,
      );
    }
    expect(rows.filter(({ breach }) => breach !== undefined)).toEqual([]);
  });
});
