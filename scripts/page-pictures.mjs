// Writes the pictures of docs/page.md: the page of a session in which an agent asks and evaluates, in light and dark.

import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { callTool, inTemporaryFolder, PROJECT, SERVER, withServer } from './session.mjs';

const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
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

/** Returns a link to the page of the session of FOLDER. */
function linkTo(folder, env) {
  const options = { cwd: folder, env: { ...process.env, ...env, DISPLAY: '', WAYLAND_DISPLAY: '' } };
  return execFileSync(process.execPath, [SERVER, 'page'], { ...options, encoding: 'utf8' }).trim();
}

await inTemporaryFolder(async (temporary) => {
  const folder = join(temporary, 'shop');
  mkdirSync(folder);
  const env = { LIVE_LISP_SERVING: join(temporary, '.serving'), XDG_STATE_HOME: join(temporary, '.state') };
  const args = [SERVER, '--root', folder, '--allow', 'write_file:shop.lisp'];
  await withServer({ command: process.execPath, args, folder, env }, async (client) => {
    await callTool(client, 'write_file', { path: 'shop.lisp', content: BEFORE });
    await callTool(client, 'load_file', { path: 'shop.lisp' });
    await callTool(client, 'eval_form', { form: '(shop::price 200 :friend)' });
    await callTool(client, 'eval_form', { form: '(shop::price 200 :guest)' });
    await callTool(client, 'who_calls', { name: 'shop::price' });
    const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
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
      for (const colorScheme of ['light', 'dark']) {
        await page.emulateMedia({ colorScheme });
        await page.screenshot({ path: join(PROJECT, 'docs', `page-${colorScheme}.png`) });
      }
      await page.getByRole('button', { name: 'Approve once' }).click();
      await asked;
    } finally {
      await browser.close();
    }
  });
});
