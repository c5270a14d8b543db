// What a session has recorded, on the page: its last calls, profile and runs of tests; and a flame graph as a file in a
// browser.

import { expect, test } from 'vitest';
import { newBrowser, openPage, sharedServer, useBrowser } from './browser.ts';

useBrowser();
const place = sharedServer();

const PROGRAM = `(progn
  (defpackage :app (:use :cl))
  (eval (read-from-string "(progn
    (defun app::|work<b>\u202e| (n) (let ((sum 0)) (dotimes (i n sum) (setf sum (mod (+ sum (* i i)) 1000003)))))
    (defun app::middle (n) (1+ (app::|work<b>\u202e| n))))")))`;

async function takeProfile(): Promise<string> {
  await place.session.eval(PROGRAM);
  return place.session.text('observe', { form: '(1+ (app::middle 20000000))', seconds: 1 });
}

let taken: Promise<string> | undefined;
/** Takes a profile once for all tests, and resolves with what the tool answered. */
function profiled(): Promise<string> {
  taken ??= takeProfile();
  return taken;
}

test('the last profile is shown as a graph that the keyboard reaches, and as a table', async () => {
  const page = await openPage(place);
  const section = page.locator('#profile');
  const show = section.getByRole('button', { name: 'Show the last profile' });
  await show.press('Enter');
  await section.getByText('This session has taken no profile. The tool observe takes one.').waitFor();
  await profiled();
  await show.press('Enter');
  await section.getByRole('heading', { name: /^CPU time, \d+ samples, / }).waitFor();
  const graph = section.getByRole('group', { name: /^Flame graph\. Arrow keys select a call/ });
  const selected = section.getByRole('status');
  const shown = () => selected.textContent();
  expect(await shown()).toBe('No call is selected.');
  await graph.focus();
  await page.keyboard.press('ArrowDown');
  expect(await shown()).toMatch(/^the form: [\d.]+ %, \d+ of \d+ samples$/);
  await page.keyboard.press('ArrowDown');
  expect(await shown()).toMatch(/^APP::MIDDLE: /);
  await page.keyboard.press('ArrowDown');
  expect(await shown()).toMatch(/^APP::work<b><U\+202E>: /);
  await page.keyboard.press('ArrowUp');
  expect(await shown()).toMatch(/^APP::MIDDLE: /);
  await page.keyboard.press('ArrowLeft');
  expect(await shown()).toMatch(/^APP::MIDDLE: /);
  await graph.locator('text', { hasText: 'the form' }).first().click();
  expect(await shown()).toMatch(/^the form: /);
  const table = section.getByRole('table', { name: 'Functions with the most samples' });
  const row = table.getByRole('row', { name: /^APP::work<b><U\+202E>/ });
  await row.getByRole('button', { name: 'APP::MIDDLE' }).click();
  await page.locator('#definition').getByRole('heading', { name: 'APP::MIDDLE' }).waitFor();
});

test('a narrow window scrolls the graph and not the page', async () => {
  await profiled();
  const page = await openPage(place, await newBrowser({ viewport: { width: 320, height: 640 } }));
  await page.getByRole('button', { name: 'Show the last profile' }).click();
  await page.locator('#profile table').waitFor();
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320);
  expect(await page.evaluate("document.querySelector('.flame').scrollWidth")).toBe(600);
});

test('the file of a flame graph opens from the disk, and runs and fetches nothing', async () => {
  const path = (await profiled()).split('\n').at(-1)?.replace('Flame graph: ', '');
  const page = await (await newBrowser()).newPage();
  const requests: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  await page.goto(`file://${path}`);
  expect(await page.evaluate('document.documentElement.namespaceURI')).toBe('http://www.w3.org/2000/svg');
  const titles = await page.evaluate(
    "[...document.querySelectorAll('svg > svg > title')].map(({ textContent }) => textContent)",
  );
  expect(titles).toContainEqual(
    expect.stringMatching(/^APP::work<b><U\+202E>: [\d.]+ %, \d+ of \d+ samples$/),
  );
  expect(requests).toEqual([`file://${path}`]);
});

test('the last recorded calls are shown as a tree that the keyboard closes', async () => {
  await place.session.eval(
    '(progn (defun inner (x) x) (defun outer (x) (1+ (inner (length x)))) (defun run () (list (outer "a\u202eb") (inner 7))))',
  );
  const page = await openPage(place);
  const section = page.locator('#recording');
  const show = section.getByRole('button', { name: 'Show the last recorded calls' });
  await show.press('Enter');
  await section
    .getByText('This session has recorded no calls. The tool observe records those of its functions.')
    .waitFor();
  await place.session.call('observe', { form: '(run)', functions: ['run', 'outer', 'inner'] });
  await show.press('Enter');
  await section.getByRole('heading', { name: /^4 calls in / }).waitFor();
  const calls = (of: string) => section.locator(of).allTextContents();
  const names = (texts: string[]) => texts.map((text) => /::(\w+)/.exec(text)?.[1]);
  expect(names(await calls('.tree > li'))).toEqual(['RUN']);
  expect(names(await calls('.tree > li > details > ul > li'))).toEqual(['OUTER', 'INNER']);
  const outer = section.locator('summary', { hasText: 'a<U+202E>b' });
  const within = section.getByText(/^\(COMMON-LISP-USER::INNER 3\) => 3/);
  expect(await within.isVisible()).toBe(true);
  await outer.press('Enter');
  expect(await within.isVisible()).toBe(false);
  await place.session.call('observe', { form: '(inner 9)', functions: ['inner'] });
  await show.press('Enter');
  await section.getByRole('heading', { name: /^1 call in / }).waitFor();
  expect(names(await calls('.tree li'))).toEqual(['INNER']);
});

test('runs of tests are shown, and how a test that failed did in each', async () => {
  const page = await openPage(place);
  const section = page.locator('#tests');
  const show = section.getByRole('button', { name: 'Show the last runs' });
  await show.press('Enter');
  await section.getByText('This session has run no tests. The tool run_tests runs them.').waitFor();
  await place.session.eval(
    `(progn (asdf:load-system :fiveam)
            (eval (read-from-string "(progn (fiveam:def-suite* prices) (defun price () 2)
                                      (fiveam:test |DEAR\u202e| (fiveam:is (= 1 (price))))
                                      (fiveam:test cheap (fiveam:is (= 1 1))))")))`,
  );
  const run = () => place.session.call('run_tests', { test: 'prices' });
  await run();
  await place.session.eval('(defun price () 1)');
  await run();
  await show.press('Enter');
  const rows = (caption: string) =>
    section.locator('table', { has: page.locator('caption', { hasText: caption }) }).locator('tbody tr');
  const cells = (caption: string) =>
    rows(caption).evaluateAll((rows) =>
      rows.map((row) => [...row.children].map((cell) => cell.textContent ?? '')),
    );
  await rows('Runs').nth(1).waitFor();
  expect((await cells('Runs')).map((row) => row.slice(2, 4))).toEqual([
    ['2', '0'],
    ['1', '1'],
  ]);
  expect(await cells('Tests that failed')).toEqual([
    [expect.stringContaining('DEAR<U+202E>'), 'passed', 'failed'],
  ]);
});
