// What stands in the place of a source file of the image: tools answer at once, and read nothing else.

import { execFileSync } from 'node:child_process';
import { rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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
  ['a device that gives zeros', () => symlinkSync('/dev/zero', file)],
  ['a file of the kernel', () => symlinkSync('/proc/kallsyms', file)],
  ['a file of a process', () => symlinkSync('/proc/self/environ', file)],
  ['a file of 1 TB', () => truncateSync(at.put('code.lisp', ''), 2 ** 40)],
  ['a folder', () => symlinkSync(at.root, file)],
  ['a link to itself', () => symlinkSync(file, file)],
];

describe.each(KINDS)('%s in the place of a source file', (_, make) => {
  beforeAll(() => {
    rmSync(join(at.root, 'pipe'), { force: true });
    execFileSync('mkfifo', [join(at.root, 'pipe')]);
    rmSync(file, { force: true });
    make();
  });
  afterAll(() => {
    rmSync(file, { force: true });
    writeFileSync(file, SOURCE);
  });

  test.each([
    ['describe_symbol', { symbol: 'helper-of-places' }, 'no source ('],
    ['who_calls', { name: 'helper-of-places', sites: true }, 'no source ('],
    ['read_definition', { names: ['helper-of-places'] }, 'no source ('],
    ['impact_of_change', { name: 'helper-of-places' }, 'CALLER-OF-PLACES'],
    ['eval_form', { form: '(error "x")', on_error: 'hold' }, 'Error: x'],
  ])('%s answers without it', async (tool, args, text) => {
    expect(await at.answer(tool, args)).toContain(text);
  });
});
