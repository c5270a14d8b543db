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
    ['src/a', 'src/a.asd', 'src/a.lisp.txt', 'src/.lisp', 'src/.b.lisp', 'src/init.lisp'],
  ],
  ['src/notes', ['src/other'], ['src/Makefile', 'src/.envrc', 'src/GNUmakefile', 'src/Dockerfile']],
  ['a.json', ['b.json'], ['package.json', '.mcp.json', 'Package.JSON', '.x/b.json']],
  ['.git/hooks/a', [], ['.git/hooks/a', '.git/hooks/b']],
  ['a.lisp', ['b.lisp'], ['b', 'src/b.lisp', '/b.lisp', '']],
  ['"lib"/x', ['"lib"/y'], ['lib/y']],
  ['a*/x', ['a*/y'], ['ab/y', 'a/y']],
  ['{a,b}/x', ['{a,b}/y'], ['a/y']],
  ['/other/root/x', ['/other/root/y'], ['root/y', '/other/y']],
])('S2.12 an approval for the session at %s covers %j, not %j', (place, inside, outside) => {
  const standing = new StandingApprovals();
  standing.allowForSession('probe', place);
  for (const each of inside) expect([each, standing.covers('probe', each)]).toEqual([each, true]);
  for (const each of outside) expect([each, standing.covers('probe', each)]).toEqual([each, false]);
  expect(standing.covers('other', place)).toBe(false);
});
