// What the page shows of a session: calls as they come, what runs, images, held errors, definitions, the log.

import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { sessionOf } from '../door/editor.ts';
import { programWith, testSbcl } from '../harness.ts';
import { servingPlace } from '../image/served.ts';
import { ownFolder } from '../shared.ts';
import { noAnswer, openPage, sharedServer, start, useBrowser } from './browser.ts';

useBrowser();
const place = sharedServer();

const SHOP = `(defpackage :shop (:use :cl))
(in-package :shop)
(defun net (price) (* 2 price))
(defun total (prices) (reduce #'+ (mapcar #'net prices)))
`;

test('each call is shown as it comes, and those before; a filter leaves some', async () => {
  await place.session.eval('(+ 1 2)');
  const page = await openPage(place);
  const rows = page.locator('#call-list > li');
  await rows.locator('.end').getByText(/^3$/).waitFor();
  await place.session.eval('(error "No\u001b[31m \u202eway")');
  const failed = rows.filter({ hasText: 'failed in' });
  await failed.getByText('Error: No<U+001B>[31m <U+202E>way').waitFor();
  expect(await rows.first().textContent()).toContain('a client');
  await failed.locator('summary').press('Enter');
  await failed.getByText('> form: (error "No<U+001B>[31m <U+202E>way")').waitFor();
  await page.getByLabel('Failed only').check();
  expect(await rows.locator('visible=true').count()).toBeGreaterThan(0);
  expect(await rows.first().isVisible()).toBe(true);
  expect(await rows.nth(1).isVisible()).toBe(false);
  await page.getByLabel('Failed only').uncheck();
  await page.getByLabel('Filter', { exact: true }).fill('IMAGE_status');
  expect(await rows.first().isVisible()).toBe(false);
  expect(await rows.last().isVisible()).toBe(true);
});

test('what runs is shown with its output, and can be interrupted', async () => {
  const page = await openPage(place);
  const running = page.locator('#running-list');
  await running.getByText('Nothing runs.').waitFor();
  const called = place.session.call('eval_form', {
    form: '(progn (format t "begun ~A~%~Abold~%" 7 (code-char #x202e)) (loop (sleep 0.1)))',
    timeout: 600,
  });
  const output = running.getByRole('log', { name: /^Output of call \d+$/ });
  await output.getByText('begun 7\n<U+202E>bold').waitFor();
  await running.getByRole('button', { name: /^Interrupt call \d+$/ }).click();
  const { text } = await called;
  expect(text).toMatch(
    /^Error: Interrupted after \d+\.\d s by the user on the page; the image and what was done so far are kept\./,
  );
  // What the page has shown stays for the model.
  expect(text).toContain('Output:\nbegun 7\n');
  await running.getByText('Nothing runs.').waitFor();
});

test('of much output the beginning and the end are shown, and the model gets them too', async () => {
  const page = await openPage(place);
  const called = place.session.call('eval_form', {
    form: `(progn (dotimes (i 150000) (format t "~7,'0D ~A~%" i (make-string 92 :initial-element #\\x)))
                  (princ "all") (loop (sleep 0.1)))`,
    timeout: 600,
  });
  const output = page.getByRole('log', { name: /^Output of call/ });
  await output.getByText(/^0000000 x[\s\S]*\d+ characters left out[\s\S]*0149999 x+\nall$/).waitFor();
  expect((await output.textContent())?.length).toBeLessThan(20_000);
  // The end is in view.
  expect(
    await page.evaluate(
      "(({ scrollHeight, clientHeight, scrollTop }) => scrollHeight - clientHeight - scrollTop)(document.querySelector('.output'))",
    ),
  ).toBeLessThan(2);
  await page.getByRole('button', { name: /^Interrupt call/ }).click();
  expect((await called).text).toMatch(/Output:\n0000000 x[\s\S]*characters left out[\s\S]*all/);
});

test('the end of the session is shown, also while a call runs', async () => {
  const place = await start();
  const page = await openPage(place);
  const called = place.session.call('eval_form', { form: '(loop (sleep 0.1))' }).catch(() => {});
  await page.getByRole('button', { name: /^Interrupt call/ }).waitFor();
  await place.session.close();
  await called;
  await noAnswer(page);
  expect(place.session.stderr).not.toContain('Error');
});

test('an open page keeps a session of commands, which ends once nobody looks', async () => {
  const serving = servingPlace();
  onTestFinished(serving.remove);
  const root = ownFolder();
  const { file, env } = programWith({ idleMs: 5000 });
  const session = spawn(process.execPath, [file, 'session', '--root', root.path], {
    env: { ...process.env, ...env, LIVE_LISP_SERVING: serving.path },
    stdio: 'ignore',
  });
  const exit = new Promise((resolve) => session.on('exit', resolve));
  onTestFinished(() => void session.kill('SIGKILL'));
  const path = await sessionOf(serving.path, session.pid);
  // A command keeps the session until the browser shows the page.
  const command = connect(`${path}.socket`);
  command.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
  const page = await openPage({ path });
  command.destroy();
  // The page looks every two seconds, so the last of these looks is later than the end of an idle session.
  for (let looks = 0; looks < 4; looks++)
    await page.waitForResponse((response) => response.url().endsWith('/api/status'));
  await page.getByText('Connected', { exact: true }).waitFor();
  expect(session.exitCode).toBeNull();
  await page.close();
  expect(await exit).toBe(0);
});

test('the image is shown with its heap and threads', async () => {
  await place.session.eval('(sb-thread:make-thread (lambda () (sleep 600)) :name "worker of mine")');
  const page = await openPage(place);
  const images = page.locator('#images');
  await images.getByText(/^Heap: \d+ MB of \d+ MB/).waitFor();
  await images.getByText('worker of mine').waitFor();
  await images
    .getByText(/Code in the image is in a sandbox|sandbox/)
    .first()
    .waitFor();
});

test('of several images each is shown, and the human chooses one to look into', async () => {
  const place = await start({}, ['--image', `gpu=${testSbcl()}`, '--image', `app=${testSbcl()}`]);
  for (const image of ['gpu', 'app']) await place.session.eval(`(defun here () (list :${image}))`, { image });
  await place.session.eval('(here 1)', { image: 'app', on_error: 'hold' });
  const page = await openPage(place);
  const images = page.locator('#images');
  for (const name of ['gpu', 'app']) await images.getByRole('heading', { name }).waitFor();
  await page.getByLabel('Image', { exact: true }).selectOption('app');
  await page.getByLabel('Name', { exact: true }).fill('here');
  await page.keyboard.press('Enter');
  await page.locator('#definition').getByText('(list :app)').waitFor();
  await page.getByRole('button', { name: 'Look for held errors' }).click();
  await page
    .locator('#error-list')
    .getByText(/PROGRAM-ERROR/)
    .first()
    .waitFor();
  await place.session.call('observe', { form: '(here)', functions: ['here'], image: 'app' });
  await page.getByRole('button', { name: 'Show the last recorded calls' }).click();
  await page.locator('#recording-text').getByText('HERE) => (:APP)').waitFor();
  const called = place.session.call('eval_form', { form: '(loop (sleep 0.1))', timeout: 600, image: 'app' });
  // The list may still show the call of observe, which has ended.
  const job = page.locator('.job', { hasText: '(loop (sleep 0.1))' });
  await job.getByText(/^Call \d+ in app: running/).waitFor();
  await job.getByRole('button', { name: /^Interrupt call/ }).click();
  expect((await called).text).toContain('Interrupted after ');
});

test('a held error is opened with its frames and their variables', async () => {
  place.root.put('shop.lisp', SHOP);
  await place.session.call('load_file', { path: 'shop.lisp' });
  const page = await openPage(place);
  await page.getByRole('button', { name: 'Look for held errors' }).click();
  await page.locator('#error-list').getByText('No error is held.').waitFor();
  await place.session.eval("(shop::total '(1 nil))", { on_error: 'hold' });
  await page.getByRole('button', { name: 'Look for held errors' }).click();
  const errors = page.locator('#error-list');
  await errors
    .getByText(/TYPE-ERROR/)
    .first()
    .click();
  await errors.getByText('The value NIL is not of type NUMBER').first().waitFor();
  await errors.locator('summary', { hasText: 'SHOP::NET' }).click();
  await errors.getByText(/PRICE = NIL/).waitFor();
});

test('a definition is shown with its text and callers, and each name in it leads on', async () => {
  place.root.put('shop.lisp', SHOP);
  await place.session.call('load_file', { path: 'shop.lisp' });
  const page = await openPage(place);
  const section = page.locator('#definition');
  await page.getByLabel('Name', { exact: true }).fill('shop::net');
  await page.keyboard.press('Enter');
  await section.getByText('(* 2 price)', { exact: false }).first().waitFor();
  await section.getByRole('button', { name: 'SHOP::TOTAL' }).click();
  await section.getByRole('heading', { name: 'SHOP::TOTAL' }).waitFor();
  await section.getByRole('button', { name: 'net', exact: true }).click();
  await section.getByRole('heading', { name: 'SHOP::NET' }).waitFor();
  await page.getByLabel('Name', { exact: true }).fill('shop::nothing');
  await page.keyboard.press('Enter');
  await section
    .getByText(/NOTHING.* not found/i)
    .first()
    .waitFor();
});

test('10,000 calls of the audit log are shown a hundred at a time', async () => {
  const place = await start();
  const time = new Date().toISOString();
  const lines = Array.from({ length: 10_000 }, (_, number) => {
    const id = `earlier-${number}`;
    const call = { tool: 'eval_form', level: 'cautious', caller: 'client', authority: 'level' };
    const begin = {
      id,
      time,
      root: place.root.path,
      event: 'begin',
      ...call,
      arguments: { form: `(f ${number})` },
    };
    const end = { id, time, event: 'end', success: number % 2 === 0, milliseconds: 1 };
    return `${JSON.stringify(begin)}\n${JSON.stringify(end)}\n`;
  });
  writeFileSync(place.audit, lines.join(''), { mode: 0o600 });
  const page = await openPage(place);
  await page.getByText('Audit log of this workspace').click();
  const rows = page.locator('#log-list > li');
  await page.getByText(/^100 of (at least )?\d+ calls are shown\.$/).waitFor();
  expect(await rows.count()).toBe(100);
  await page.getByRole('button', { name: 'Show older calls' }).click();
  await page.getByText(/^200 of (at least )?\d+ calls are shown\.$/).waitFor();
  expect(await rows.first().textContent()).toContain('(f 9999)');
  expect(await rows.last().textContent()).toContain('(f 9800)');
});
