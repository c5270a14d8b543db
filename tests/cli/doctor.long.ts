// How the doctor finds the part of the backend that an image does not work with: it compiles one backend after the
// other.

import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { temporaryFolder } from '../harness.ts';
import { sbclThatEvaluates } from '../odd-sbcl.ts';
import { run } from './run.ts';

const folder = temporaryFolder();
afterAll(folder.remove);

test('the part with which images are lost is named, below the call with which one was', async () => {
  // The probes of the backend run in the main thread, so none of them finds it.
  const form = `(sb-int:encapsulate (quote sb-c:map-packed-xref-data) (quote odd) (lambda (map &rest arguments)
    (if (eq sb-thread:*current-thread* (sb-thread:main-thread))
        (apply map arguments)
        (sb-ext:exit :code 9 :abort t))))`;
  const { code, stdout } = await run(['doctor', '--sbcl', sbclThatEvaluates(form, join(folder.path, 'odd'))]);
  expect(code).toBe(1);
  expect(stdout).toContain('\nFAIL callers does not work. Expected: who_calls finds a caller in that file.');
  expect(stdout).toContain(
    '\nIt fails only with this part of the backend: cross-references.\nDo what the answer above says',
  );
});
