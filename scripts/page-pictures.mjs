// Writes the pictures of docs/page.md, in light and dark: the page of a session in which an agent asks and evaluates, and
// what the page shows of its tests, profile and recorded calls.

import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { chromiumOptions } from './chromium.mjs';
import { callTool, inTemporaryFolder, PROJECT, SERVER, withServer } from './session.mjs';

const SIZE = { width: 1000, height: 780 };

const BEFORE = `(defpackage :shop (:use :cl))
(in-package :shop)

(defvar *discounts* '((:regular . 0) (:friend . 10)))

(defun price (net customer)
  "The price of NET for CUSTOMER."
  (let ((percent (cdr (assoc customer *discounts*))))
    (- net (* net percent 1/100))))
`;
const AFTER = BEFORE.replace(
  '  (let ((percent (cdr (assoc customer *discounts*))))\n    (- net (* net percent 1/100))))',
  '  (let ((percent (or (cdr (assoc customer *discounts*)) 0)))\n    (* net (- 1 (/ percent 100)))))',
);

const TESTS = `(defpackage :shop-tests (:use :cl :fiveam))
(in-package :shop-tests)

(def-suite* shop)

(test a-friend-pays-less (is (= 180 (shop::price 200 :friend))))
(test a-guest-pays-all (is (= 200 (shop::price 200 :guest))))
`;
const TOTAL = `(defun shop::total (orders)
  (loop for (net customer) in orders sum (shop::price net customer)))`;
const ORDERS = "(shop::total '((200 :friend) (100 :regular)))";

/** Writes the picture NAME of PAGE in both colours. */
async function picture(page, name) {
  for (const colorScheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: join(PROJECT, 'docs', `${name}-${colorScheme}.png`) });
  }
}

/** Returns a link to the page of the session of FOLDER. */
function linkTo(folder, env) {
  const options = { cwd: folder, env: { ...process.env, ...env, DISPLAY: '', WAYLAND_DISPLAY: '' } };
  return execFileSync(process.execPath, [SERVER, 'page'], { ...options, encoding: 'utf8' }).trim();
}

/** Runs tests before and after the edit that ASKED waits for, takes a profile and records calls. */
async function observed(client, asked) {
  await callTool(client, 'eval_form', { form: '(asdf:load-system :fiveam)' });
  await callTool(client, 'write_file', { path: 'tests.lisp', content: TESTS });
  await callTool(client, 'load_file', { path: 'tests.lisp' });
  const test = 'shop-tests::shop';
  await callTool(client, 'run_tests', { test });
  await asked;
  await callTool(client, 'load_file', { path: 'shop.lisp' });
  await callTool(client, 'run_tests', { test });
  await callTool(client, 'eval_form', { form: TOTAL });
  await callTool(client, 'observe', { form: ORDERS, seconds: 1 });
  const functions = ['shop::total', 'shop::price'];
  await callTool(client, 'observe', { form: ORDERS, functions });
}

await inTemporaryFolder(async (temporary) => {
  const folder = join(temporary, 'shop');
  mkdirSync(folder);
  const env = { LIVE_LISP_SERVING: join(temporary, '.serving'), XDG_STATE_HOME: join(temporary, '.state') };
  const args = [SERVER, '--root', folder, '--allow', 'write_file:*.lisp'];
  await withServer({ command: process.execPath, args, folder, env }, async (client) => {
    await callTool(client, 'write_file', { path: 'shop.lisp', content: BEFORE });
    await callTool(client, 'load_file', { path: 'shop.lisp' });
    await callTool(client, 'eval_form', { form: '(shop::price 200 :friend)' });
    await callTool(client, 'eval_form', { form: '(shop::price 200 :guest)' });
    await callTool(client, 'who_calls', { name: 'shop::price' });
    const browser = await chromium.launch(chromiumOptions());
    try {
      const page = await browser.newPage({ viewport: SIZE });
      await page.goto(linkTo(folder, env));
      await page.getByText('Connected').waitFor();
      const edit = {
        path: 'shop.lisp',
        original: BEFORE,
        modified: AFTER,
        description: 'A guest has no discount.',
      };
      const asked = callTool(client, 'propose_file_edit', edit);
      // The page takes answers a moment after it has shown a question.
      await page.locator('button[aria-disabled="false"]', { hasText: 'Approve once' }).waitFor();
      await page.getByText('Heap:').waitFor();
      await picture(page, 'page');
      await page.getByRole('button', { name: 'Approve once' }).click();
      await observed(client, asked);
      for (const name of ['Show the last runs', 'Show the last profile', 'Show the last recorded calls'])
        await page.getByRole('button', { name }).click();
      await page.locator('.tree').waitFor();
      await page.setViewportSize({ ...SIZE, height: 1300 });
      await page.locator('#tests').evaluate((section) => section.scrollIntoView());
      await picture(page, 'page-observed');
    } finally {
      await browser.close();
    }
  });
});
