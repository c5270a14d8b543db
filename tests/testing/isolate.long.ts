// Tests that hang, end their thread or image, or exhaust heap or stack, in three frameworks: with isolate the others run.
// LIVE_LISP_FRAMEWORKS is a folder with the sources of Parachute, and of what it needs.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Session, startSession, temporaryFolder } from '../harness.ts';
import { libraries } from '../libraries.ts';
import { write } from './workspaces.ts';

libraries('fiveam');

const FOLDER = process.env['LIVE_LISP_FRAMEWORKS'] ?? '';

/** What tests do, by their names, and what is told of those that do not pass. */
const BODIES: readonly [name: string, body: string, reported?: string][] = [
  ['first-one', '1'],
  [
    'hangs',
    '(progn (princ "Waiting.") (loop (sleep 0.05)))',
    'did not end: the run was interrupted after 5.',
  ],
  ['exits', '(sb-ext:exit :code 3)', 'did not end: the image was lost: it exited with code 3'],
  ['ends-thread', '(sb-thread:abort-thread)', 'did not end: its thread was ended by the code that ran in it'],
  [
    'kills',
    "(progn (mapc #'sb-thread:terminate-thread (remove sb-thread:*current-thread* (sb-thread:list-all-threads))) 1)",
  ],
  [
    'fills-heap',
    "(let ((all '())) (loop (push (make-array 1000000) all)))",
    'did not end: it was about to exhaust the heap',
  ],
  ['recurs', '(labels ((down (n) (1+ (down (1+ n))))) (down 1))', 'CONTROL-STACK-EXHAUSTED'],
  [
    'aborts',
    '(sb-alien:alien-funcall (sb-alien:extern-alien "abort" (function sb-alien:void)))',
    'did not end: the image was lost: its runtime gave up: SIGABRT received',
  ],
  ['throws', "(throw 'nowhere 1)", 'CONTROL-ERROR: attempt to THROW to a tag that does not exist'],
  ['last-one', '1'],
];

const FRAMEWORKS: readonly { name: string; uses: string; test: (name: string, body: string) => string }[] = [
  { name: 'fiveam', uses: 'fiveam', test: (name, body) => `(test ${name} (is (= 1 ${body})))` },
  { name: 'sb-rt', uses: 'sb-rt', test: (name, body) => `(deftest ${name} ${body} 1)` },
  ...(existsSync(FOLDER)
    ? [
        {
          name: 'parachute',
          uses: 'parachute',
          test: (name: string, body: string) => `(define-test ${name} (is = 1 ${body}))`,
        },
      ]
    : []),
];

describe.each(FRAMEWORKS)('hostile tests of $name', ({ name: framework, uses, test: testForm }) => {
  const root = temporaryFolder();
  let session: Session;
  beforeAll(async () => {
    write(root.path, {
      'hostile.asd': `(defsystem "hostile" :depends-on ("${framework}") :components ((:file "hostile")))`,
      'hostile.lisp': [
        `(defpackage hostile (:use cl ${uses}))`,
        '(in-package hostile)',
        ...BODIES.map(([name, body]) => testForm(name, body)),
      ].join('\n'),
    });
    const env: Record<string, string> = FOLDER === '' ? {} : { CL_SOURCE_REGISTRY: `${join(FOLDER, '/')}/:` };
    session = await startSession({ args: ['--root', root.path, '--heap', '512MB'], env });
    await session.text('load_system', { system: 'hostile' });
  });
  afterAll(async () => {
    await session.close();
    root.remove();
  });

  test('each is told, and the others run', async () => {
    const { text } = await session.call('run_tests', { package: 'hostile', isolate: true, timeout: 5 });
    const bad = BODIES.filter(([, , reported]) => reported !== undefined);
    expect(text.split('\n')[0]).toContain(`hostile: ${bad.length} of ${BODIES.length} tests fail `);
    for (const [name, , reported = ''] of bad) {
      const line = text.split('\n').find((each) => each.startsWith(`  ${name.toUpperCase()}`));
      expect(line).toContain(reported);
    }
    expect(await session.eval('(+ 1 2)')).toBe('3');
  });
});
