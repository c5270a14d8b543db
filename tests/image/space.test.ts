// The limit of address space that the server itself is held to: what is said where no image starts, and what helps.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { spaceRemedy } from '../../src/image/process/space.ts';
import { type Answer, good, startSession } from '../harness.ts';
import { sharedFolder } from '../shared.ts';

const folder = sharedFolder();

/** Returns the answer to the first evaluation of a server that may use KB of address space, with the flags ARGS. */
async function firstAnswer(kb: number, ...args: string[]): Promise<Answer> {
  const node = join(folder.path, 'node');
  writeFileSync(node, `#!/bin/sh\nulimit -v ${kb}\nexec ${process.execPath} "$@"\n`, { mode: 0o755 });
  const session = await startSession({ node, args });
  return session.call('eval_form', { form: '(+ 1 2)' }).finally(() => session.close());
}

test('a call says which heap fits, and that does', async () => {
  const { text, isError } = await firstAnswer(7_000_000);
  expect(isError).toBe(true);
  expect(text).toMatch(/^The Lisp image did not start: its runtime gave up: Can't allocate /);
  const remedy =
    'SBCL reserves 12288 MB of address space for a heap of 4096 MB, and needs some more. This server may use only 6835 MB (ulimit -v). Ask the user to start the server with --heap 1937MB, or to raise that limit.';
  expect(text.endsWith(`\n${remedy}`)).toBe(true);
  expect(await firstAnswer(7_000_000, '--heap', '1937MB')).toEqual(good('3'));
});

const MB = 2 ** 20;
/** Returns what Linux says to whoever may use OCTETS of address space. */
const limits = (octets: number | 'unlimited') =>
  `Limit                     Soft Limit           Hard Limit           Units     \nMax address space         ${String(octets).padEnd(20)} unlimited            bytes     \n`;

test.each([
  ['there is none', 4096, limits('unlimited')],
  ['it suffices', 4096, limits(13312 * MB)],
])('nothing is said of a limit when %s', (_, heapMb, text) => {
  expect(spaceRemedy(heapMb, text)).toBeUndefined();
});

test.each([
  [4096, 13312 * MB - 1, 'start the server with --heap 4095MB, or to raise that limit.'],
  [512, 1408 * MB - 1, 'raise that limit.'],
])('for a heap of %d MB and a limit of %d octets it is advised to %s', (heapMb, octets, advice) => {
  const limitMb = Math.floor(octets / MB);
  expect(spaceRemedy(heapMb, limits(octets))).toBe(
    `SBCL reserves ${3 * heapMb} MB of address space for a heap of ${heapMb} MB, and needs some more. This server may use only ${limitMb} MB (ulimit -v). Ask the user to ${advice}`,
  );
});
