// observe: the flame graph of a profile, as a file.

import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { flameBoxes, flameDocument, type GraphFrame } from '../../src/flame-graph.ts';
import { run } from '../cli/run.ts';
import { ownFolder, ownSession, sharedSession } from '../shared.ts';

const PROGRAM = `(progn
  (defun work (n) (let ((sum 0)) (dotimes (i n sum) (setf sum (mod (+ sum (* i i)) 1000003)))))
  (defun middle (n) (1+ (work n))))`;
const PROFILE = { form: '(1+ (middle 200000))', seconds: 1 };

test('the answer names its file last, which is in the state folder and for its user only', async () => {
  const root = ownFolder();
  const state = ownFolder();
  const env = { XDG_STATE_HOME: state.path };
  const session = await ownSession({ args: ['--root', root.path], env });
  await session.eval(PROGRAM);
  const text = await session.text('observe', PROFILE);
  const line = text.split('\n').at(-1) ?? '';
  const path = line.replace('Flame graph: ', '');
  const folder = join(state.path, 'live-lisp', 'profiles');
  expect(line).toBe(`Flame graph: ${join(folder, readdirSync(folder).join())}`);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(readdirSync(root.path).filter((name) => name.endsWith('.svg'))).toEqual([]);
  const svg = readFileSync(path, 'utf8');
  const heights = ['the form', 'COMMON-LISP-USER::MIDDLE', 'COMMON-LISP-USER::WORK'].map((name) =>
    Number(new RegExp(`y="(\\d+)"[^>]*><title>${name}: `).exec(svg)?.[1]),
  );
  expect(heights).toEqual([48, 66, 84]);
  expect(svg).toMatch(/<title>CPU time in \S+: \d+ samples, \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC<\/title>/);
  await session.close();
  const forgotten = await run(['forget', '--root', root.path], env);
  expect(forgotten.stdout).toContain(', the flame graphs of profiles, ');
  expect(existsSync(path)).toBe(false);
});

const session = sharedSession();

test('code gets the path of the file, and no frames', async () => {
  const text = await session.eval(
    '(let ((data (live-lisp:call-tool "observe" :form "(dotimes (i 100000) (expt 3 1000))" :seconds 0.5))) (cons (probe-file (gethash "flameGraph" data)) (loop for key being the hash-keys of data when (search "grap" key :test (function char-equal)) collect key)))',
  );
  expect(text).toMatch(/^\(#P".*\/live-lisp\/profiles\/[0-9a-f]{24}\.\d{17}\.svg"\s+"flameGraph"\)$/);
});

test('a file that cannot be written takes nothing from the profile', async () => {
  const state = ownFolder();
  const session = await ownSession({ env: { XDG_STATE_HOME: state.path } });
  await session.eval(PROGRAM);
  const profiles = join(state.path, 'live-lisp', 'profiles');
  writeFileSync(profiles, '');
  const { text, isError } = await session.call('observe', PROFILE);
  expect(isError).toBe(false);
  expect(text).toContain('COMMON-LISP-USER::WORK');
  expect(text.split('\n').at(-1)).toBe(
    `Note: The flame graph could not be written (EEXIST: file already exists, mkdir '${profiles}'). Give the server write access there, then profile again.`,
  );
});

describe('the call tree', () => {
  const rows = (setUp: string, of = 'rows') =>
    session.eval(`(let ((root (live-lisp.observe::make-graph-frame nil)))
      (flet ((seen (&rest names)
               (live-lisp.observe::count-calls
                (mapcar (lambda (name) (live-lisp.observe::make-sampled-frame name nil)) names) root)))
        ${setUp}
        (let ((rows (live-lisp.observe::graph-rows root))) ${of})))`);

  test('has calls before those that they made, and the most frequent first', async () => {
    expect(await rows('(seen "a" "b") (seen "a" "c") (seen "a" "c" "c") (seen "d")')).toBe(
      '((0 "a" 3) (1 "c" 2) (2 "c" 1) (1 "b" 1) (0 "d" 1))',
    );
  });

  test('has at most a thousand calls: those in the most samples', async () => {
    const text = await rows(
      '(dotimes (i 1500) (dotimes (times (if (< i 600) 2 1)) (seen "a" (format nil "f~D" i) "end")))',
    );
    // 600 functions were seen twice. With their callees they are more than a thousand, like those seen once.
    expect(text).toBe('((0 "a" 2100))');
    const fitting = await rows(
      '(dotimes (i 1500) (dotimes (times (if (< i 400) 2 1)) (seen "a" (format nil "f~D" i) "end")))',
      '(list (length rows) (count 2 rows :key (function third)))',
    );
    expect(fitting).toBe('(801 800)');
  });
});

describe('the drawing', () => {
  const hostile = '<script>alert(1)</script>&"\u202e\u0000\ud800\u001b[31m]]>';

  test('has boxes as wide as their parts, those that a call made below it', () => {
    const frames: GraphFrame[] = [
      [0, 'APP::A', 3],
      [1, 'APP::C', 2],
      [1, 'b', 1],
      [0, 'LIB:D', 1],
    ];
    const places = flameBoxes(frames, 4, 400).map(({ depth, x, width }) => [depth, x, width]);
    expect(places).toEqual([
      [0, 0, 300],
      [1, 0, 200],
      [1, 200, 100],
      [0, 300, 100],
    ]);
    const [a, c, b] = flameBoxes(frames, 4, 400);
    expect(a?.title).toBe('APP::A: 75.0 %, 3 of 4 samples');
    expect(c?.color).toBe(a?.color);
    expect(b?.color).not.toBe(a?.color);
    expect(flameBoxes([[0, 'LIBRARY::SUM-UP', 1]], 1, 60)[0]?.label).toBe('SUM-UP');
    expect(flameBoxes([[0, 'LIBRARY::SUM-UP', 1]], 1, 30)[0]?.label).toBe('SUM-');
    expect(flameBoxes([[0, 'LIBRARY::SUM-UP', 1]], 1, 20)[0]?.label).toBe('');
  });

  test('has names as text, with codes for what hides or reorders', () => {
    const svg = flameDocument(hostile, [[0, hostile, 1]], 1);
    const shown =
      '&lt;script&gt;alert(1)&lt;/script&gt;&amp;"&lt;U+202E&gt;&lt;U+0000&gt;&lt;U+D800&gt;&lt;U+001B&gt;[31m]]&gt;';
    expect(svg).toContain(`<title>${shown}: 100.0 %, 1 of 1 samples</title>`);
    expect(svg).toContain(`>${shown}</text>`);
    expect(svg).not.toContain('<script');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none may be left.
    expect(svg).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e\ud800-\udfff]/);
  });

  test('takes nothing from elsewhere', () => {
    const svg = flameDocument('CPU time', [[0, 'APP::A', 1]], 1);
    expect(svg.replace('http://www.w3.org/2000/svg', '')).not.toMatch(
      /http|href|url\(|<style|<image|\bon\w+=/,
    );
  });
});
