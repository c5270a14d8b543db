// S3.17 and C31: whatever way code uses a function and however it got into the image, who_calls knows.

import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { FIXTURES, type Session, startSession } from '../harness.ts';
import { ownFolder } from '../shared.ts';

const FILE = join(FIXTURES, 'styles.lisp');
const SOURCE = readFileSync(FILE, 'utf8').split('\n');

let session: Session;
afterEach(() => session.close());

const FUNCTIONS = [
  'AS-FUNCTION',
  'AS-KEY',
  'BY-MACROLET',
  'CALLS',
  'HANDLES',
  'HANDLES-QUOTED',
  'IN-CLOSURE',
  'IN-GENERIC',
  'IN-INNER',
  'IN-LINE',
  'IN-MACRO',
  'IN-METHOD',
  'MAKE-POINT',
  'QUOTED-IN-LET',
  'SET-LATER',
  'SMALL',
  'USES-IN-LINE',
].map((name) => `STYLES::${name}`);
const PLACES = [
  '**GLOBAL** (initial value)',
  '*PARAMETER* (initial value)',
  '*VARIABLE* (initial value)',
  '+CONSTANT+ (initial value)',
  'COMPILED-AWAY (compiler macro)',
  'EXPANDED (setf expander)',
  'LOADS-VALUE (load-time value)',
  'POINT (structure slot)',
  'SHORT (setf expander)',
  'SORROW (slot initform)',
  'SORT-OF (type expander)',
  'THING (slot initform)',
  'TROUBLE (condition report)',
].map((name) => `STYLES::${name}`);
const POSSIBLE = ['*TABLE* (initial value)', 'EXPANDS-INTO', 'MENTIONS', 'MENTIONS-BESIDE'].map(
  (name) => `STYLES::${name}`,
);

/** Returns the rows of the blocks of the answer about TARGET, each sorted. */
async function blocks(): Promise<Record<string, string[]>> {
  const text = await session.text('who_calls', { name: 'styles::target' });
  const found: Record<string, string[]> = {};
  let header = '';
  for (const line of text.split('\n')) {
    if (line.startsWith('  ')) found[header]?.push(line.trim());
    else if (line !== '') {
      header = line;
      found[header] = [];
    }
  }
  return Object.fromEntries(Object.entries(found).map(([name, rows]) => [name, rows.sort()]));
}

function lineOf(start: string): number {
  return SOURCE.findIndex((line) => line.startsWith(start)) + 1;
}

/** Returns what must be told when the file is FILE, as answers name it; without it nothing is of a file. */
function expected(file?: string): Record<string, string[]> {
  const forms = ['(target 99)', '(when (find-package'].map(
    (form) => `top-level form at ${file}:${lineOf(form)}`,
  );
  return {
    'Functions that call STYLES::TARGET:': FUNCTIONS,
    'Other places that call STYLES::TARGET:': [...PLACES, ...(file === undefined ? [] : forms)].sort(),
    'Possible callers:': POSSIBLE,
  };
}

test('S3.17 C31 compile-file and load: every style is found, also when the index was made before', async () => {
  const folder = ownFolder();
  const file = join(folder.path, 'styles.lisp');
  copyFileSync(FILE, file);
  session = await startSession();
  await session.text('who_calls', { name: 'car', package: 'CL' });
  expect(await session.eval(`(load (compile-file ${JSON.stringify(file)}))`)).toBe('T');
  expect(await blocks()).toEqual(expected(file));
});

test('S3.17 C31 eval_form: every style is found that leaves something', async () => {
  session = await startSession();
  const { text, isError } = await session.call('eval_form', { form: SOURCE.join('\n') });
  expect(isError, text).toBe(false);
  expect(await blocks()).toEqual(expected());
});
