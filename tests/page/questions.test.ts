// What a person sees of questions on the page, and what their answers do.

import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeEach, expect, test } from 'vitest';
import { watchingEditor } from '../door/editor.ts';
import { authorities, type Place } from '../door/server.ts';
import { ERAS, good } from '../harness.ts';
import { until } from '../server/processes.ts';
import { newBrowser, noAnswer, openPage, sharedServer, start, useBrowser } from './browser.ts';

useBrowser();
const place = sharedServer();
beforeEach(() => rmSync(join(place.root.path, 'a.lisp'), { force: true }));

const WRITE = { path: 'a.lisp', content: '(a)\n' };
const WROTE = good('Wrote 4 bytes to a.lisp');

const approve = (page: Page) => page.getByRole('button', { name: 'Approve once' });
const closed = (page: Page, why: string) => page.getByText(`The last question: ${why}.`).waitFor();

/** Returns the text of the file NAME in the workspace of PLACE; undefined when there is none. */
function textOf({ root }: Place, name: string): string | undefined {
  const file = join(root.path, name);
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

test('a call of a client that cannot ask waits in the browser, and is approved there', async () => {
  const page = await openPage(place);
  const progress: unknown[] = [];
  const onprogress = ({ message }: { message?: string }) => void progress.push(message);
  const called = place.session.call('write_file', WRITE, { onprogress });
  await page.getByText('Approve write_file (dangerous)? new file, +1 −0, in a.lisp').first().waitFor();
  expect(await page.title()).toBe('(1) live-lisp');
  const row = page.locator('#call-list > li').first();
  await row.getByText('waits for your answer, above').waitFor();
  // What a screen reader says.
  expect(await page.locator('#announcer').textContent()).toBe(
    'A question waits: Approve write_file (dangerous)? new file, +1 −0, in a.lisp',
  );
  await approve(page).click();
  expect(await called).toEqual(WROTE);
  expect(progress).toEqual(['waits until the user approves or denies it in a browser']);
  expect(authorities(place).at(-1)).toBe('human, in an editor');
  await closed(page, 'approved in a browser');
  await page.getByText('Nothing waits for you.').waitFor();
  await row.getByText('Wrote 4 bytes to a.lisp').waitFor();
});

test('after a reload the call still says that it waits, and after a denial how it ended', async () => {
  const page = await openPage(place);
  const called = place.session.call('write_file', WRITE);
  await approve(page).waitFor();
  await page.reload();
  expect(new URL(page.url()).hash).toBe('');
  const row = page.locator('#call-list > li').first();
  await row.getByText('waits for your answer, above').waitFor();
  await page.getByRole('button', { name: 'Deny' }).click();
  await row.getByText('Tool execution denied by user').waitFor();
  expect((await called).isError).toBe(true);
});

test.each(ERAS)(
  'a %s client that asks too says that the browser does, and its form goes away',
  async (era) => {
    const asked: string[] = [];
    const never = new Promise<never>(() => {});
    const onQuestion = ({ message }: { message: string }) => {
      asked.push(message);
      // A modern client answers by another call, and so only at the end.
      return era === 'legacy'
        ? never
        : page
            .getByText('The last question')
            .waitFor()
            .then(() => ({ action: 'cancel' as const }));
    };
    const place = await start({ era, onQuestion });
    const page = await openPage(place);
    const called = place.session.call('write_file', WRITE);
    const row = page.locator('#call-list > li', { hasText: 'write_file' }).last();
    await until('the form', 10_000, () => asked.length > 0);
    await row.getByText('waits for your answer, above').waitFor();
    await approve(page).click();
    expect(await called).toEqual(WROTE);
    await row.getByText(era === 'legacy' ? 'Wrote 4 bytes' : 'The client asks its user.').waitFor();
    expect(asked[0]).toContain('Approve write_file (dangerous; also asked in a browser)?');
  },
);

test('a denial has the word of the human to the model', async () => {
  const page = await openPage(place);
  const called = place.session.call('write_file', WRITE);
  await page.getByLabel('A word to the model, if you deny').fill('Use another name.');
  await page.getByRole('button', { name: 'Deny' }).click();
  expect(await called).toEqual({
    text: 'Tool execution denied by user',
    notices: ['Nothing was done. The user denied the call in a browser. The user says: Use another name.'],
    isError: true,
  });
  expect(textOf(place, 'a.lisp')).toBeUndefined();
});

test('a call is approved with other arguments, and the model learns which', async () => {
  const page = await openPage(place);
  const called = place.session.call('write_file', WRITE);
  await page.getByText('Approve with changes').click();
  await page.getByLabel('content').fill('(b)\n');
  await page.getByRole('button', { name: 'Approve these arguments' }).click();
  expect(await called).toEqual({
    text: 'Wrote 4 bytes to a.lisp',
    notices: [
      "The user changed these arguments and approved: content. The call ran with the user's values, not with yours.",
    ],
    isError: false,
  });
  expect(textOf(place, 'a.lisp')).toBe('(b)\n');
  expect(authorities(place).at(-1)).toBe('human, with changes');
  await closed(page, 'approved with changes in a browser');
});

test('an argument that is no text is changed as JSON', async () => {
  place.root.put('a.lisp', '(defun a () 1)\n');
  const page = await openPage(place);
  const called = place.session.text('edit_definitions', {
    edits: [{ path: 'a.lisp', op: 'replace', text: '(defun a () 2)' }],
  });
  await page.getByText('Approve with changes').click();
  const field = page.getByLabel('edits');
  const edits = await field.inputValue();
  await field.fill('[');
  await page.getByRole('button', { name: 'Approve these arguments' }).click();
  await page.getByText('edits is not JSON. Correct it, and approve again.').waitFor();
  await field.fill(edits.replace('(defun a () 2)', '(defun a () 3)'));
  await page.getByRole('button', { name: 'Approve these arguments' }).click();
  await called;
  expect(textOf(place, 'a.lisp')).toBe('(defun a () 3)\n');
});

test('an approval for the session covers such files, and is offered for these only', async () => {
  const place = await start();
  const page = await openPage(place);
  const called = place.session.call('write_file', WRITE);
  await page
    .getByRole('button', { name: 'Approve for this session: write_file of *.lisp directly in the workspace' })
    .click();
  expect(await called).toEqual(WROTE);
  expect(await place.session.text('write_file', { path: 'b.lisp', content: '' })).toBe(
    'Wrote 0 bytes to b.lisp',
  );
  const other = place.session.call('write_file', { path: 'Makefile', content: 'all:\n' });
  await approve(page).waitFor();
  expect(await page.getByRole('button', { name: 'for this session' }).count()).toBe(0);
  await approve(page).click();
  expect((await other).text).toBe('Wrote 5 bytes to Makefile');
});

test('two tabs and an editor show a question, and the first answer counts', async () => {
  const context = await newBrowser();
  const [one, other] = [await openPage(place, context), await openPage(place, context)];
  const editor = await watchingEditor(place.path);
  const called = place.session.call('write_file', WRITE);
  await approve(one).waitFor();
  await approve(other).click();
  expect(await called).toEqual(WROTE);
  await closed(one, 'approved in a browser');
  expect(await editor.nth('live-lisp/closed')).toMatchObject({ why: 'approved in a browser' });
  expect(await editor.answer({ approve: true })).toEqual({
    counts: false,
    text: 'This question was answered elsewhere, or its time ran out.',
  });
  const second = place.session.call('write_file', { ...WRITE, content: '(b)\n' });
  await approve(one).waitFor();
  await editor.answer({ approve: true }, 2);
  await second;
  await closed(one, 'approved in Emacs');
  // Both tabs still may use the page.
  await one.reload();
  await one.getByText('Connected', { exact: true }).waitFor();
});

test('a browser with many tabs can still answer: the oldest tab says that it is not used any more', async () => {
  const context = await newBrowser();
  const pages: Page[] = [];
  for (let tabs = 0; tabs < 7; tabs++) pages.push(await openPage(place, context));
  const [first, , , fourth, , , last] = pages as [Page, Page, Page, Page, Page, Page, Page];
  const called = place.session.call('write_file', WRITE);
  await approve(fourth).waitFor();
  await first
    .getByText(
      'Newer tabs of this browser show this session, and a browser has no connection for more. Reload this tab to use it again.',
    )
    .waitFor();
  expect(await approve(first).count()).toBe(0);
  await approve(last).click();
  expect(await called).toEqual(WROTE);
});

test('a question whose time is over goes away', async () => {
  const place = await start({}, ['--answer-time', '3']);
  const page = await openPage(place);
  const called = place.session.call('write_file', WRITE);
  expect((await called).text).toContain('Nobody answered in time, so nothing was done.');
  await closed(page, 'nobody answered in time');
  expect(await approve(page).count()).toBe(0);
  expect(textOf(place, 'a.lisp')).toBeUndefined();
});

test('an answer to something else than what was shown does not count', async () => {
  const page = await openPage(place);
  const asked = page.waitForResponse((response) => response.url().endsWith('/api/question'));
  const called = place.session.call('write_file', WRITE);
  const { id, shown } = (await (await asked).json()) as { id: string; shown: string };
  const refused = {
    counts: false,
    text: 'The question changed after it was shown. Read it again, then answer.',
  };
  expect(await post(page, 'answer', { id, shown: shown.replace(/^./, 'x'), decision: 'once' })).toEqual(
    refused,
  );
  expect(await post(page, 'answer', { id, decision: 'once' })).toEqual(refused);
  expect(await post(page, 'answer', { id, shown, decision: 'perhaps' })).toEqual(refused);
  await approve(page).click();
  expect(await called).toEqual(WROTE);
  expect(await post(page, 'answer', { id, shown, decision: 'once' })).toEqual({
    counts: false,
    text: 'This question was answered elsewhere, or its time ran out.',
  });
});

test('a question of a session that was killed takes no answer, and the page of the next session opens', async () => {
  const killed = await start();
  const page = await openPage(killed, await newBrowser());
  const called = killed.session.call('write_file', WRITE).catch(() => {});
  await approve(page).waitFor();
  process.kill(killed.session.pid, 'SIGKILL');
  await called;
  await noAnswer(page);
  expect(await approve(page).isVisible()).toBe(false);
  expect(await page.title()).toBe('live-lisp: no connection');
  await openPage(place, page.context());
  expect(await page.title()).toBe('live-lisp: no connection');
});

test('the keyboard alone approves', async () => {
  const page = await openPage(place);
  const called = place.session.call('write_file', WRITE);
  await approve(page).waitFor();
  await page.keyboard.press('Tab');
  await page.getByRole('link', { name: 'To the questions' }).press('Enter');
  const focused = () => page.evaluate('document.activeElement.textContent');
  for (let tabs = 0; tabs < 5 && (await focused()) !== 'Approve once'; tabs += 1)
    await page.keyboard.press('Tab');
  expect(await focused()).toBe('Approve once');
  await page.locator('button[aria-disabled="false"]', { hasText: 'Approve once' }).waitFor();
  await page.keyboard.press('Enter');
  expect(await called).toEqual(WROTE);
  // The focus is not lost with the question.
  await page.getByText('Nothing waits for you.').waitFor();
  expect(await focused()).toBe('Questions');
});

test('characters that reorder or hide text are shown by their codes, and stay when others change', async () => {
  const page = await openPage(place);
  const path = 'a\u202e\u001b[31m.lisp';
  const called = place.session.call('write_file', { path, content: '; \u202e <b>bold</b>\u001b[0m\n' });
  await page.getByRole('heading', { name: 'a<U+202E><U+001B>[31m.lisp' }).waitFor();
  await page.getByText('+; <U+202E> <b>bold</b><U+001B>[0m').waitFor();
  for (const hidden of ['\u202e', '\u001b']) expect(await page.content()).not.toContain(hidden);
  await page.getByText('Approve with changes').click();
  await page.getByText('path has hidden characters, so it stays as it is.').waitFor();
  await page.getByText('content has hidden characters, so it stays as it is.').waitFor();
  await page.getByRole('button', { name: 'Deny' }).click();
  expect((await called).isError).toBe(true);
});

test('4,000 changed lines stand side by side on any width, and their words that differ are marked once they are seen', async () => {
  const lines = (word: string) =>
    Array.from({ length: 4000 }, (_, line) => `(${word} (x ${line}))\n`).join('');
  place.root.put('a.lisp', lines('old'));
  const page = await openPage(place, await newBrowser());
  const called = place.session.call('write_file', { path: 'a.lisp', content: lines('<b>new</b>') });
  const rows = page.locator('.row');
  const marked = (row: number) => rows.nth(row).locator('ins, del').allTextContents();
  await rows.first().locator('ins').waitFor();
  expect(await rows.count()).toBe(4000);
  expect(await marked(0)).toEqual(['old', '<b>new</b>']);
  expect(await marked(3999)).toEqual([]);
  for (const width of [320, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    await rows.nth(3999).scrollIntoViewIfNeeded();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
  }
  await rows.nth(3999).locator('ins').waitFor();
  expect(await marked(3999)).toEqual(['old', '<b>new</b>']);
  expect(await rows.nth(3999).locator('.text').allTextContents()).toEqual([
    '-(old (x 3999))',
    '+(<b>new</b> (x 3999))',
  ]);
  await approve(page).click();
  expect((await called).text).toMatch(/^Wrote /);
});

/** Sends the request NAME with BODY as the page PAGE does, and resolves with the answer. */
function post(page: Page, name: string, body: object): Promise<unknown> {
  return page.evaluate(`(async () => {
    const headers = { 'content-type': 'application/json', 'x-live-lisp-key': sessionStorage.getItem('live-lisp-key') };
    const response = await fetch('/api/${name}', { method: 'POST', headers, body: ${JSON.stringify(JSON.stringify(body))} });
    return response.json();
  })()`);
}
