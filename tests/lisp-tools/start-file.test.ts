// Tools that a person's own start file registers keep their level; what the agent's code registers does not.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sharedFolder } from '../shared.ts';
import { definition, toolOf, withSession } from './sessions.ts';

describe('a start file', () => {
  const root = sharedFolder();
  const init = join(root.path, 'init.lisp');
  const define = (name: string, level: string) => definition(name, `by ${level}`, `:safety-level :${level}`);
  writeFileSync(
    init,
    `(in-package :live-lisp-user) ${define('trusted', 'safe')} ${define('risky', 'dangerous')}
    (defvar *seen* (list (length (list-registered-tools)) (call-tool "trusted")))`,
  );

  test('S2.20 C19 its tools keep their level, and come back with every new image', async () => {
    await withSession(
      'legacy',
      async ({ session }) => {
        expect(await session.eval('live-lisp-user::*seen*')).toBe('(20 "by safe")');
        const trusted = await toolOf(session, 'trusted');
        expect([trusted?.annotations?.readOnlyHint, trusted?._meta]).toEqual([true, undefined]);
        expect(await session.text('trusted')).toBe('by safe');
        expect(await session.text('risky')).toMatch(/start the server: --allow risky$/);
        await session.eval('(sb-ext:exit :abort t)');
        const { notices } = await session.call('eval_form', { form: '1' });
        expect(notices[0]).not.toContain('the tools');
        expect((await toolOf(session, 'trusted'))?.annotations?.readOnlyHint).toBe(true);
        // A call of such a tool is enough to bring the image back.
        await session.eval('(sb-ext:exit :abort t)');
        expect(await session.text('trusted')).toBe('by safe');
      },
      { args: ['--init', init] },
    );
  });

  test('S2.20 what a person allows holds for its tools, and not when an evaluation takes their names', async () => {
    await withSession(
      'legacy',
      async ({ session }) => {
        expect(await session.text('risky')).toBe('by dangerous');
        await session.eval(`${define('risky', 'dangerous')} ${define('trusted', 'safe')}`);
        expect((await session.call('risky')).text).toMatch(/needs a human's approval/);
        expect((await toolOf(session, 'trusted'))?.annotations).toBeUndefined();
      },
      { args: ['--init', init, '--allow', 'risky'] },
    );
  });

  test('an approval for the session ends when an evaluation defines the tool anew', async () => {
    let asked = 0;
    await withSession(
      'legacy',
      async ({ session }) => {
        await session.eval(define('asks', 'dangerous'));
        expect([await session.text('asks'), await session.text('asks'), asked]).toEqual([
          'by dangerous',
          'by dangerous',
          1,
        ]);
        await session.eval(define('asks', 'dangerous'));
        expect([await session.text('asks'), asked]).toEqual(['by dangerous', 2]);
      },
      {
        onQuestion: () => {
          asked += 1;
          return { action: 'accept', content: { decision: 'approve for this session' } };
        },
      },
    );
  });
});
