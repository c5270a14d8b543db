// What read_buffer reads: files by path or base name, with the edits that wait for an answer.

import { beforeAll, describe, expect, test } from 'vitest';
import { changedMeanwhile } from '../said.ts';
import { until } from '../server/processes.ts';
import { APPROVE, DENY, sharedWorkspace } from './sessions.ts';

const at = sharedWorkspace({ era: 'modern' });

describe('a name', () => {
  beforeAll(() => {
    for (const path of ['a.lisp', 'src/a.lisp', 'src/b.lisp', 'x/c.lisp', 'y/c.lisp', '.git/d.lisp']) {
      at.put(path, `;; ${path}\n`);
    }
  });

  test.each([
    ['a.lisp', 'a.lisp, line 1 of 1, 10 bytes\n\n;; a.lisp'],
    ['b.lisp', 'src/b.lisp, line 1 of 1, 14 bytes\n\n;; src/b.lisp'],
  ])('%s is a path, or the base name of one file', async (buffer, text) => {
    expect(await at.answer('read_buffer', { buffer })).toBe(text);
  });

  test.each([
    ['c.lisp', '2 files are named c.lisp: x/c.lisp, y/c.lisp. Give the path of one.'],
    ['d.lisp', 'There is no file d.lisp in the workspace ROOT. Similar names: '],
    [
      'nothing-like-it',
      'There is no file nothing-like-it in the workspace ROOT. No file has a similar name.',
    ],
  ])('%s is refused', async (buffer, text) => {
    expect(await at.answer('read_buffer', { buffer })).toContain(`failed: ${text.replace('ROOT', at.root)}`);
  });

  test('a range is that of read_file', async () => {
    at.put('many', 'one\ntwo\nthree\n');
    const range = { start_line: 2, end_line: 2 };
    expect(await at.answer('read_buffer', { buffer: 'many', ...range })).toBe(
      await at.answer('read_file', { path: 'many', ...range }),
    );
  });
});

// How a question travels in each era is in tests/server/approvals.test.ts.
describe('an edit that waits for its answer', () => {
  beforeAll(() => {
    at.put('src/a.txt', 'one needle\ntwo\n');
  });

  const DIFF = 'File src/a.txt, line 2, +1 \u22121:\n@@ -1,2 +1,2 @@\n one needle\n-two\n+2';
  const edit = () => at.answer('propose_file_edit', { path: 'src/a.txt', original: 'two', modified: '2' });

  /** Calls TOOL with ARGS while a human has the question of an edit before them, and returns the answer. */
  async function whileAsked(tool: string, args: object, change = edit): Promise<string> {
    let seen = '';
    at.human = async () => {
      seen = await at.answer(tool, args);
      return DENY;
    };
    expect(await change()).toBe('failed: Tool execution denied by user');
    return seen;
  }

  test('is shown below the file, and gone once it is answered', async () => {
    const text = 'src/a.txt, lines 1 to 2 of 2, 15 bytes\n\none needle\ntwo';
    expect(await whileAsked('read_buffer', { buffer: 'a.txt' })).toBe(
      `${text}\n\nAn edit of it waits for approval, and is not in the text above:\n\n${DIFF}`,
    );
    expect(await at.answer('read_buffer', { buffer: 'a.txt' })).toBe(text);
    expect(await whileAsked('read_file', { path: 'src/a.txt' })).toBe(text);
  });

  test('is shown below a search of the file, and named below one of all', async () => {
    const text = "Found 1 match of 'needle' in src/a.txt:\n\n  1:5  one needle";
    expect(await whileAsked('search_in_buffer', { pattern: 'needle', buffer: 'a.txt' })).toBe(
      `${text}\n\nAn edit of it waits for approval, and is not in what was searched:\n\n${DIFF}`,
    );
    expect(await whileAsked('search_in_buffer', { pattern: 'needle' })).toBe(
      "Found 1 match of 'needle' in 1 of 7 files:\n\n  src/a.txt:\n    1:5  one needle\nNote: the edits of src/a.txt that wait for approval were not searched; read_buffer shows them.",
    );
  });

  test('is told for a file that is not there yet', async () => {
    const write = () => at.answer('write_file', { path: 'new.txt', content: 'x\n' });
    expect(await whileAsked('read_buffer', { buffer: 'new.txt' }, write)).toBe(
      'failed: There is no file new.txt yet. An edit of it waits for approval, and is not in the workspace:\n\nNew file new.txt, 1 line:\n+x',
    );
  });

  test('of two for one file, each is shown; the second is refused when the first was made', async () => {
    const release: (() => void)[] = [];
    at.human = () => new Promise((resolve) => release.push(() => resolve(APPROVE)));
    const first = edit();
    const second = at.answer('propose_file_edit', { path: 'src/a.txt', original: 'one', modified: '1' });
    await until('both questions', 60_000, () => release.length === 2);
    expect(await at.answer('read_buffer', { buffer: 'a.txt' })).toContain(
      '2 edits of it wait for approval, and are not in the text above:\n\nFile src/a.txt, line ',
    );
    release[0]?.();
    const answers = [first, second];
    const done = await Promise.race(answers);
    expect(done).toMatch(/^Changed src\/a\.txt: .* It has 1\d bytes now\./);
    release[1]?.();
    expect((await Promise.all(answers)).find((text) => text !== done)).toBe(
      `failed: ${changedMeanwhile('propose_file_edit')}`,
    );
    expect(at.questions.length).toBeGreaterThan(5);
  });
});
