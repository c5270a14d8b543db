// The last profile of a session on the page, and its flame graph as a file in a browser.

import { expect } from 'vitest';
import { newBrowser, openPage, start, test, useBrowser } from './browser.ts';

useBrowser();

const PROGRAM = `(progn
  (defpackage :app (:use :cl))
  (eval (read-from-string "(progn
    (defun app::|work<b>\u202e| (n) (let ((sum 0)) (dotimes (i n sum) (setf sum (mod (+ sum (* i i)) 1000003)))))
    (defun app::middle (n) (1+ (app::|work<b>\u202e| n))))")))`;

test('the last profile is shown as a graph that the keyboard reaches, and as a table', async () => {
  const place = await start();
  await place.session.eval(PROGRAM);
  const page = await openPage(place);
  const section = page.locator('#profile');
  const show = section.getByRole('button', { name: 'Show the last profile' });
  await show.press('Enter');
  await section.getByText('This session has taken no profile. The tool observe takes one.').waitFor();
  await place.session.call('observe', { form: '(1+ (app::middle 200000))', seconds: 1 });
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
  const place = await start();
  await place.session.eval(PROGRAM);
  await place.session.call('observe', { form: '(1+ (app::middle 200000))', seconds: 1 });
  const page = await openPage(place, await newBrowser({ viewport: { width: 320, height: 640 } }));
  await page.getByRole('button', { name: 'Show the last profile' }).click();
  await page.locator('#profile table').waitFor();
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320);
  expect(await page.evaluate("document.querySelector('.flame').scrollWidth")).toBe(600);
});

test('the file of a flame graph opens from the disk, and runs and fetches nothing', async () => {
  const place = await start();
  await place.session.eval(PROGRAM);
  const text = await place.session.text('observe', { form: '(1+ (app::middle 200000))', seconds: 1 });
  const path = text.split('\n').at(-1)?.replace('Flame graph: ', '');
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
