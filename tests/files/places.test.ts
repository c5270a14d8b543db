// What stands in the place of a source file of the image: tools answer at once, and read nothing else.

import { execFileSync } from 'node:child_process';
import { rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { sharedWorkspace } from './sessions.ts';

const SOURCE = '(defun helper-of-places () 1)\n(defun caller-of-places () (helper-of-places))\n';

let file: string;
const at = sharedWorkspace();
beforeAll(async () => {
  file = at.put('code.lisp', SOURCE);
  await at.answer('load_file', { path: 'code.lisp' });
});

const KINDS: [string, () => void][] = [
  ['a FIFO', () => execFileSync('mkfifo', [file])],
  ['a link to a FIFO', () => symlinkSync(join(at.root, 'pipe'), file)],
  ['a device that never ends', () => symlinkSync('/dev/urandom', file)],
  ['a file of a process', () => symlinkSync('/proc/self/environ', file)],
  ['a file of 1 TB', () => truncateSync(at.put('code.lisp', ''), 2 ** 40)],
  ['a link to itself', () => symlinkSync(file, file)],
];

afterEach(() => {
  rmSync(file, { force: true });
  writeFileSync(file, SOURCE);
});

test.each(KINDS)('with %s in the place of a source file, tools answer without it', async (_, make) => {
  rmSync(join(at.root, 'pipe'), { force: true });
  execFileSync('mkfifo', [join(at.root, 'pipe')]);
  rmSync(file, { force: true });
  make();
  for (const [tool, args, text] of [
    ['describe_symbol', { symbol: 'helper-of-places' }, 'no source ('],
    ['who_calls', { name: 'helper-of-places', sites: true }, 'no source ('],
    ['read_definition', { names: ['helper-of-places'] }, 'no source ('],
    ['impact_of_change', { name: 'helper-of-places' }, 'CALLER-OF-PLACES'],
    ['eval_form', { form: '(error "x")', on_error: 'hold' }, 'Error: x'],
  ] as const) {
    expect(await at.answer(tool, args)).toContain(text);
  }
});
