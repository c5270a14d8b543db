// A web application fails in a request's thread; the agent sees that, fixes the function, and the request gets its answer.
// What it sees is kept as text, which the docs show.

import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { LIBRARIES_AS_COMPILED, PROJECT } from '../harness.ts';
import { libraries } from '../libraries.ts';
import { until } from '../server/processes.ts';
import { sharedFolder, sharedSession } from '../shared.ts';

libraries('hunchentoot');

const root = sharedFolder();
const FILES = ['prices.lisp', 'basket.lisp'];
for (const file of FILES) cpSync(join(PROJECT, 'examples', file), join(root.path, file));
const session = sharedSession({ args: ['--root', root.path, ...LIBRARIES_AS_COMPILED], cwd: root.path });
beforeAll(async () => {
  await session.text('load_system', { system: 'hunchentoot', timeout: 100 });
  for (const path of FILES) await session.text('load_file', { path });
});

const debug = (args: Record<string, unknown> = {}) => session.text('debug', args);

/** What the agent has asked and was told, as the docs show it. */
const shown: string[] = [];

/** Calls debug with ARGS, and keeps the call and its answer, or the call alone, in SHOWN. */
async function show(args: Record<string, unknown>, answered = true): Promise<string> {
  const text = await debug(args);
  const reported = text
    .replace(/(hunchentoot-worker-127\.0\.0\.1):\d+/g, '$1:34432')
    .replace(/\n+Restarts:[\s\S]*/, '\n...')
    .replace(/\n+/g, '\n')
    .replace(/^/gm, '  ');
  shown.push(`> debug ${JSON.stringify(args)}`, ...(answered ? [reported] : []));
  return text;
}

test('a request that waits gets its answer from the function that was fixed meanwhile', async () => {
  const port = await session.eval('(values (basket:serve))');
  await show({ watch: 'PRICES', hold: true }, false);
  shown.push('(a browser asks for /basket?a=lamp&b=desk, and waits)');
  const request = fetch(`http://127.0.0.1:${port}/basket?a=lamp&b=desk`);
  const error = await until('the held error', 20_000, async () => {
    const [, number] =
      /(\d+): COMMON-LISP::TYPE-ERROR in the thread hunchentoot-worker/.exec(await debug()) ?? [];
    return number !== undefined && Number(number);
  });
  const look = await show({ error });
  expect(look).toContain('1: (PRICES:TOTAL ("lamp" "desk"))  prices.lisp:18:3');
  expect(look).toMatch(/\n {2}\.\.\. \d+ frames of libraries\n\nRestarts:/);
  expect(await show({ error, eval: '(list names (price "lamp"))' })).toBe('(("lamp" "desk") 30)');
  expect(await debug({ error, eval: '(nowhere names)' })).toMatch(
    /^Error: The function PRICES::NOWHERE is undefined\.[\s\S]*\n\nError \d+ is still held\.$/,
  );
  const fix = "(defun price (name) (or (cdr (assoc name *prices* :test #'string=)) 0))";
  expect(await show({ error, fix, frame: 1, retry: true })).toBe(
    'Fixed: PRICE\n\nprices.lisp:12:1 still has the old text of PRICES:PRICE.\n\nThe frame returned:\n30',
  );
  const answer = await request;
  const page = await answer.text();
  expect([answer.status, page]).toEqual([200, 'Total: 30']);
  shown.push(`(the browser shows ${page})`);
  await expect(`${shown.join('\n')}\n`).toMatchFileSnapshot('../transcripts/web-application.txt');
});
