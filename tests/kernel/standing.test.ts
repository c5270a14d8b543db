// For which files an approval holds that was given for the session: like the one that was shown, and run by nothing.

import { expect, test } from 'vitest';
import { StandingApprovals } from '../../src/kernel/standing.ts';

test.each([
  [
    'src/a.lisp',
    ['src/b.lisp'],
    ['src/deep/b.lisp', 'srcs/b.lisp', 'b.lisp', '/src/b.lisp', 'SRC/b.lisp', ''],
  ],
  [
    'src/a.lisp',
    ['src/A.lisp'],
    ['src/a', 'src/a.asd', 'src/a.lisp.txt', 'src/.lisp', 'src/.b.lisp', 'src/init.lisp', 'src/tools.lisp'],
  ],
  ['"lib"/x.lisp', ['"lib"/y.lisp'], ['lib/y.lisp']],
  ['a*/x.lisp', ['a*/y.lisp'], ['ab/y.lisp', 'a/y.lisp']],
  ['/other/root/x.lisp', ['/other/root/y.lisp'], ['root/y.lisp', '/other/y.lisp']],
])('S2.12 an approval for the session at %s covers %j, not %j', (place, inside, outside) => {
  const standing = new StandingApprovals([], ['src/tools.lisp']);
  standing.allowForSession('probe', place);
  for (const each of inside) expect([each, standing.covers('probe', each)]).toEqual([each, true]);
  for (const each of outside) expect([each, standing.covers('probe', each)]).toEqual([each, false]);
  expect(standing.covers('other', place)).toBe(false);
});

test.each(['src/a.LISP', '../b/a.cl', 'src/initial.lisp', undefined])(
  'an approval of %s can hold for the session',
  (place) => {
    expect(new StandingApprovals().canHoldForSession(place)).toBe(true);
  },
);

test.each([
  'Makefile',
  'package.json',
  '.mcp.json',
  'CLAUDE.md',
  'x.asd',
  'hooks/pre-commit',
  '.git/hooks/a.lisp',
  '.a.lisp',
  'init.lisp',
  'my.setup.lisp',
  'sbclrc.lisp',
  'a.lisp.sh',
])('none of %s can: something can run or obey it by itself', (place) => {
  expect(new StandingApprovals().canHoldForSession(place)).toBe(false);
});
