// The calls that a session has recorded last, on the page.

import { expect } from 'vitest';
import { openPage, start, test, useBrowser } from './browser.ts';

useBrowser();

test('the last recorded calls are shown as a tree that the keyboard closes', async () => {
  const place = await start();
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
