import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'vitest';
import { startSession } from './harness.ts';

test('try', async () => {
  const s = await startSession();
  let out = (await s.text('load_file', { path: 'fixtures/looks.lisp' })) + '\n';
  for (const line of readFileSync('/tmp/i4a-x/calls.txt', 'utf8').split('\n')) {
    if (!line.trim()) continue;
    const i = line.indexOf(' ');
    const a = await s.call(line.slice(0, i), JSON.parse(line.slice(i + 1)));
    out += `${line}${a.isError ? ' (isError)' : ''}\n${[a.text, ...a.notices].join('\n')}\n------\n`;
  }
  writeFileSync('/tmp/i4a-x/out.txt', out);
  await s.close();
}, 100000);
