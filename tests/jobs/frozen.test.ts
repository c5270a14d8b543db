// Which images are replaced because they do not react, and which only look as if they did not.

import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { within } from '../load.ts';
import { lostDuring } from '../said.ts';
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
    await until('the other', 10_000, async () => /2 calls run|not react/.test(await status()));
    expect(await status()).toMatch(/^The Lisp image is busy: 2 calls run\./);
    writeFileSync(file, '');
    expect([await changed, await other]).toEqual(['NIL', '3']);
  });

  test('takes a form of 12 MB', async () => {
    const form = `(length "${'x'.repeat(12_000_000)}")`;
    expect(await session.eval(form, { timeout: 100 })).toBe('12000000');
  });

  test('that has become another program is replaced within two seconds of the limit', async () => {
    await session.eval(`(defun become-another () (sb-alien:with-alien ((arguments (array sb-alien:c-string 3)))
      (setf (sb-alien:deref arguments 0) "sleep" (sb-alien:deref arguments 1) "1000" (sb-alien:deref arguments 2) nil)
      (sb-alien:alien-funcall
        (sb-alien:extern-alien "execv" (function sb-alien:int sb-alien:c-string (* (array sb-alien:c-string 3))))
        "/bin/sleep" (sb-alien:addr arguments))))`);
    const text = await within(3000, () => session.eval('(become-another)', { timeout: 1 }));
    expect(text).toBe(
      `Error: ${lostDuring('a call could not be interrupted, so the image had to be replaced')}`,
    );
    expect(await session.eval('(+ 1 2)')).toBe('3');
  });
});
