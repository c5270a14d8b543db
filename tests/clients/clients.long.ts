// The clients that people use, against the built server and a scripted model: `make check-long`. It writes result.json,
// of which docs/clients.md is made.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { QUIRKS } from '../../src/server/quirks.ts';
import { PROJECT } from '../harness.ts';
import { type Headless, measureHeadless } from './headless.ts';
import { HOSTS } from './hosts.ts';
import { measureAsked, measureWatched, type Questioned, type Watched } from './interactive.ts';

interface Row {
  name: string;
  version: string;
  headless?: Headless;
  watched?: Watched;
  /** Null when it asks nobody. */
  asked?: Questioned | null;
}

const FILE = join(PROJECT, 'tests', 'clients', 'result.json');

/** What an earlier run saw of the same version stands until it is seen again. */
function earlier(name: string, version: string): Row {
  const known = existsSync(FILE) ? (JSON.parse(readFileSync(FILE, 'utf8')) as { rows: Row[] }).rows : [];
  return known.find((row) => row.name === name && row.version === version) ?? { name, version };
}

const rows = HOSTS.map(({ name, version }) => earlier(name, version));
const PAIRS = HOSTS.map((host, index) => [host.name, host, rows[index] as Row] as const);

afterAll(() => {
  const quirks = QUIRKS.map(({ client, seenIn, reason }) => ({ client, seenIn, reason }));
  writeFileSync(FILE, `${JSON.stringify({ rows, quirks }, null, 2)}\n`);
});

test.each(PAIRS)('%s without a human: its model gets every value', async (_, host, row) => {
  row.headless = await measureHeadless(host);
  expect(row.headless).toMatchObject({ number: true, string: true, notice: true });
});

test.each(PAIRS)('%s in a terminal: a call that is cancelled', async (_, host, row) => {
  row.watched = await measureWatched(host);
  expect(row.watched.cancel).not.toContain('no next call');
});

test.each(PAIRS)('%s in a terminal: who can be asked can approve', async (_, host, row) => {
  const asked = await measureAsked(host);
  row.asked = asked ?? null;
  expect(asked?.keys).not.toBe('');
  expect(asked?.shown).toBe(asked?.changed);
});
