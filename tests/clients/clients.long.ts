// The clients that people use, against the built server and a scripted model: `make check-long`. It writes result.json,
// of which docs/develop/clients.md is made.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { QUIRKS } from '../../src/server/quirks.ts';
import { PROJECT } from '../harness.ts';
import { writeMeasured } from '../measured.ts';
import { type Headless, measureHeadless } from './headless.ts';
import { HOSTS } from './hosts.ts';
import { measureAsked, measureWatched, type Questioned, sampleOf, type Watched } from './interactive.ts';
import { measureRule, type Ruled } from './rule.ts';

interface Row {
  name: string;
  version: string;
  headless?: Headless;
  watched?: Watched;
  /** Of a change of ten lines and of one of sixty; null when it asks nobody. */
  asked?: { small: Questioned; large: Questioned } | null;
}

const FILE = join(PROJECT, 'tests', 'clients', 'result.json');

interface Result {
  rows: Row[];
  rule?: Ruled;
}

const known: Result = existsSync(FILE) ? (JSON.parse(readFileSync(FILE, 'utf8')) as Result) : { rows: [] };

/** What an earlier run saw of the same version stands until it is seen again. */
function earlier(name: string, version: string): Row {
  return known.rows.find((row) => row.name === name && row.version === version) ?? { name, version };
}

const rows = HOSTS.map(({ name, version }) => earlier(name, version));
const PAIRS = HOSTS.map((host, index) => [host.name, host, rows[index] as Row] as const);
let { rule } = known;

afterAll(async () => {
  const quirks = QUIRKS.map(({ client, observedIn, reason }) => ({ client, observedIn, reason }));
  await writeMeasured(FILE, { rows, rule, quirks });
});

test.each(PAIRS)('%s without a human: its model gets every value', async (_, host, row) => {
  row.headless = await measureHeadless(host);
  expect(row.headless).toMatchObject({ number: true, string: true, notice: true });
});

test.each(PAIRS)('%s in a terminal: a call that is cancelled', async (_, host, row) => {
  row.watched = await measureWatched(host);
  expect(row.watched.cancel).not.toContain('no next call');
});

test.each(PAIRS)(
  '%s in a terminal: who can be asked sees how much is shown, and can approve',
  async (_, host, row) => {
    const small = await measureAsked(host, sampleOf(5));
    const large = small && (await measureAsked(host, sampleOf(30)));
    row.asked = small && large ? { small, large } : null;
    for (const asked of [small, large]) {
      if (asked === undefined) continue;
      const { shown, changed, screen, preset, written, turned, shownLater } = asked;
      expect(written).toBe(true);
      // What is not there is counted, and is not approved by a key that confirms what is preset.
      expect(/\d+ of \d+ lines are shown/.exec(screen)?.[0]).toBe(
        shown === changed ? undefined : `${shown} of ${changed} lines are shown`,
      );
      expect(preset === 'approve').toBe(shown === changed);
      if (turned > 0) expect(shownLater).toBe(changed);
    }
  },
);

test('the permission dialog of Claude Code cannot stand for our question', async () => {
  rule = await measureRule();
  expect(rule.code).toBe(true);
});
