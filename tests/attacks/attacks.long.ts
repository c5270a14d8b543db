// More attacks than `make test` has time for, by section, and what came of each: `make check-long` writes docs/develop/attacks.md.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type FileSession, openWorkspace } from '../files/sessions.ts';
import { FORGING } from '../say.ts';
import { askingAttacks } from './asking.ts';
import { type Attack, type Section, writeSections } from './attack.ts';
import { growingAttacks } from './growing.ts';
import { installingAttacks } from './installing.ts';
import { readingAttacks } from './reading.ts';
import { runningAttacks } from './running.ts';
import { sayingAttacks } from './saying.ts';

let at: FileSession;
const sections: Section[] = [];
beforeAll(async () => {
  at = await openWorkspace({ args: ['--eval-timeout', '20'], env: FORGING });
});
afterAll(async () => {
  await writeSections(sections);
  await at.close();
});

const SECTIONS: [string, () => Attack[] | Promise<Attack[]>][] = [
  ['Files that are no sources', () => readingAttacks(at)],
  ['Texts that take time', () => growingAttacks(at)],
  ['What a question is made to say', () => askingAttacks(at)],
  ['What code says to the server', () => sayingAttacks(at)],
  ['What is run from the disk', runningAttacks],
  ['Install in a hostile project', installingAttacks],
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
