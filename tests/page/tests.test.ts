// The runs of tests of a session, on the page.

import { expect } from 'vitest';
import { openPage, start, test, useBrowser } from './browser.ts';

useBrowser();

test('runs of tests are shown, and how a test that failed did in each', async () => {
  const place = await start();
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
  const cells = (caption: string) =>
    section
      .locator('table', { has: page.locator('caption', { hasText: caption }) })
      .locator('tbody tr')
      .evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent ?? '')));
  await expect.poll(() => cells('Runs')).toHaveLength(2);
  expect((await cells('Runs')).map((row) => row.slice(2, 4))).toEqual([
    ['2', '0'],
    ['1', '1'],
  ]);
  expect(await cells('Tests that failed')).toEqual([
    [expect.stringContaining('DEAR<U+202E>'), 'passed', 'failed'],
  ]);
});
