// Every message that docs/troubleshooting.md explains is one that the sources have.

import { expect, test } from 'vitest';
import { filesOf, textOf } from './files.ts';

/** Returns the clauses of MESSAGE that are long enough to be known; a value of it, …, ends one. */
function clausesOf(message: string): string[] {
  return message
    .split(/[…(),.;:]/)
    .map((clause) => clause.trim().replace(/^so /, ''))
    .filter((clause) => clause.length > 6);
}

test('the page explains messages that there are', () => {
  const files = [...filesOf('src', '.ts'), ...filesOf('lisp', '.lisp')];
  const sources = files.map(textOf).join('\n').replaceAll("\\'", "'");
  const rows = [...textOf('docs/troubleshooting.md').matchAll(/^\| `([^`]+)` \|/gm)].map(
    ([, text = '']) => text,
  );
  expect(rows.length).toBeGreaterThan(25);
  const missing = rows.flatMap((row) => clausesOf(row).filter((clause) => !sources.includes(clause)));
  expect(missing).toEqual([]);
});

test('a message is known by its clauses', () => {
  expect(clausesOf('… cannot be read (…), so it stays. Make it …')).toEqual([
    'cannot be read',
    'it stays',
    'Make it',
  ]);
});
