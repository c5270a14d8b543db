// Which images are replaced because they do not react, and which only look as if they did not.

import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { until } from '../server/processes.ts';
import { sharedFolder, sharedSession } from '../shared.ts';

const folder = sharedFolder();

describe('an image', () => {
  const session = sharedSession({ args: ['--heap', '2GB'] }, '1');

  test('reacts while a change of classes keeps its calls waiting', async () => {
    const [holds, file] = [join(folder.path, 'holds'), join(folder.path, 'go-on')];
    // After such a method SBCL has to compile anew what makes instances, and waits for this lock to do so.
    const changed = session.eval(`(sb-c::with-world-lock ()
      (defmethod initialize-instance :after ((stream sb-gray:fundamental-stream) &key) stream)
      (close (open "${holds}" :direction :output))
      (loop until (probe-file "${file}") do (sleep 0.01)))`);
    const status = () => session.text('image_status');
    await until('the change', 10_000, () => existsSync(holds));
    const other = session.eval('(sb-c::with-world-lock () (+ 1 2))');
    // On a busy machine an answer can say that other processes have the CPU.
    await until('the image to react while both run', 10_000, async () =>
      /^The Lisp image is busy: 2 calls run\./.test(await status()),
    );
    writeFileSync(file, '');
    expect([await changed, await other]).toEqual(['NIL', '3']);
  });

  test('takes a form of 12 MB', async () => {
    const form = `(length "${'x'.repeat(12_000_000)}")`;
    expect(await session.eval(form, { timeout: 100 })).toBe('12000000');
  });
});
