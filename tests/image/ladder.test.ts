// When new images end by themselves: the next is a plain one, which says so; what code of the user ends makes none.

import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { findSbcl } from '../../src/image/process/sbcl.ts';
import { FIXTURES, type Session, startSession, warmCache } from '../harness.ts';
import { imageOf, killChild } from '../server/processes.ts';
import { sharedFolder, withSession } from '../shared.ts';

const SBCL = findSbcl(process.env['LIVE_LISP_SBCL'] || undefined);
const folder = sharedFolder();
beforeAll(() => warmCache(folder.path, { plain: true }));

/** Starts a server over an SBCL in which it is deadly that the backend calls INTERNAL, PACKAGE:NAME. */
function withDeadly(internal: string): Promise<Session> {
  const program = join(folder.path, `sbcl-${internal.replaceAll(/\W/g, '-')}`);
  const load = `(load "${join(FIXTURES, 'dying.lisp')}")`;
  const script = `#!/usr/bin/env bash
export DYING='${internal}'
args=() seen=
for arg; do
  if [ "$arg" = --eval ] && [ -z "$seen" ]; then args+=(--eval '${load}') seen=1; fi
  args+=("$arg")
done
exec '${SBCL}' "\${args[@]}"
`;
  writeFileSync(program, script);
  chmodSync(program, 0o755);
  return startSession({
    args: ['--sbcl', program],
    env: { XDG_CACHE_HOME: folder.path },
    // An image that does not end by itself has time to start, also where many others want the CPU.
    waits: { image: { start: 600_000 } },
  });
}

const PLAIN =
  /^This Lisp image uses only documented parts of SBCL, because earlier images exited on their own \((?:(?:; then )?its runtime gave up: SIGABRT received)+\)\. Evaluating and loading work as always\. Missing: frames, places of frames, locals, .*\. Ask the user to run live-lisp doctor, which finds the part that ends images\.$/;

test('images that end before they greet are followed by a plain one', async () => {
  const session = await withDeadly('SB-INT:ENCAPSULATE');
  try {
    const { text, notices } = await session.call('eval_form', { form: '(+ 1 2)' });
    expect(text).toBe('3');
    expect(notices).toEqual([expect.stringMatching(PLAIN)]);
  } finally {
    await session.close();
  }
});

test('images that end when they tell an error are followed by a plain one, which tells it', async () => {
  const session = await withDeadly('SB-DEBUG:FRAME-ARGS-AS-LIST');
  try {
    const form = '(defun fails (x) (error "No ~A" x)) (list (fails 1))';
    const lost = await session.call('eval_form', { form });
    expect(lost.text).toContain('its runtime gave up: SIGABRT received');
    const reported = await session.call('eval_form', { form });
    expect(reported.text).toContain('No 1');
    expect(reported.notices).toContainEqual(expect.stringMatching(PLAIN));
    const status = await session.text('image_status');
    expect(status).toContain('This Lisp image uses only documented parts of SBCL');
    expect((await session.call('eval_form', { form: '1' })).notices).toEqual([]);
  } finally {
    await session.close();
  }
});

test('an SBCL that starts no image at all is tried whole again', async () => {
  const program = join(folder.path, 'sbcl-soon');
  const whole = join(folder.path, 'whole');
  writeFileSync(program, `#!/bin/sh\n[ -e '${whole}' ] || exit 9\nexec '${SBCL}' "$@"\n`);
  chmodSync(program, 0o755);
  await withSession({ args: ['--sbcl', program], env: { XDG_CACHE_HOME: folder.path } }, async (session) => {
    expect(await session.eval('1')).toContain('The Lisp image did not start: it exited with code 9');
    writeFileSync(whole, '');
    const { text, notices } = await session.call('eval_form', { form: '(+ 1 2)' });
    expect([text, notices]).toEqual(['3', []]);
  });
});

test('images that code of the user or a person ends are followed by whole ones', async () => {
  await withSession({}, async (session) => {
    const abort = '(sb-alien:alien-funcall (sb-alien:extern-alien "abort" (function sb-alien:void)))';
    for (const form of ['(exit)', abort]) {
      for (let time = 1; time <= 2; time++) {
        expect((await session.call('eval_form', { form })).text).toContain('The Lisp image was lost');
      }
      const { text, notices } = await session.call('eval_form', { form: '(+ 1 2)' });
      expect(text).toBe('3');
      expect(notices.join('\n')).not.toContain('plain');
    }
    for (let time = 1; time <= 3; time++) {
      await session.eval('1');
      await killChild(await imageOf(session.pid));
    }
    expect((await session.call('eval_form', { form: '(+ 1 2)' })).notices.join('\n')).not.toContain('plain');
  });
});
