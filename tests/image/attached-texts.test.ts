// What is said of an image that somebody else runs, where it differs from what is said of the server's own.

import { expect, test } from 'vitest';
import { readConfig } from '../../src/config.ts';
import type { Ending } from '../../src/image/wire/endings.ts';
import { defineTool } from '../../src/kernel/tool.ts';
import { withAnswerChecks } from '../../src/tools/answer-checks.ts';
import { endingText } from '../../src/tools/endings.ts';
import { noticeText } from '../../src/tools/notice-text.ts';
import { described } from './served.ts';

test('a lost connection is told as one, and not as a lost image', () => {
  const how = 'the image ended';
  expect(endingText({ kind: 'lost', how })).toBe(
    'The Lisp image was lost during this call: the image ended. The next call gets a new image.',
  );
  expect(endingText({ kind: 'lost', how, attached: true })).toBe(
    'The connection to the Lisp image was lost during this call: the image ended. The next call tries to reconnect.',
  );
});

test('no larger --heap is advised, since the flag is for images of the server', () => {
  const ending: Ending = { kind: 'interrupted', reason: 'heap', frames: [], afterMs: 1000 };
  expect(endingText({ ...ending, attached: true })).toBe(
    'Interrupted after 1.0 s because it was about to exhaust the heap; the image is kept. Allocate less at once.',
  );
  expect(endingText(ending)).toContain('or ask the user for a larger --heap.');
});

test('a flag that requires a sandbox keeps to own images, and the notice names it', () => {
  expect(readConfig(['--sandbox', 'on'], {}).ownImageRequiredBy).toBe('--sandbox on');
  expect(readConfig(['--sandbox', 'strict', '--image', 'own'], {}).image).toBe('own');
  for (const args of [[], ['--sandbox', 'auto'], ['--no-sandbox']])
    expect(readConfig(args, {}).ownImageRequiredBy).toBe(undefined);
  const served = described('/serving', 'sbcl-1', { pid: 12, workspace: '/shop' });
  expect(noticeText({ kind: 'unused', served, ownImageRequiredBy: '--sandbox on' })).toBe(
    'Note: the image sbcl-1 (SBCL 2.2.9, pid 12) serves /shop now. This server keeps its own image, because the server was started with --sandbox on and the other image is not sandboxed. To use that image, ask the user to start the server without --sandbox on.',
  );
});

test('the start file that an image of the user does not load is named once', () => {
  const served = described('/serving', 'sbcl-1', { pid: 12, workspace: '/shop' });
  expect(noticeText({ kind: 'attached', served, how: '', startFile: '/shop/start.lisp' })).toBe(
    'This server works in the image sbcl-1 (SBCL 2.2.9, pid 12), which serves /shop; live-lisp never ends it. The start file /shop/start.lisp was not loaded in that image; load_file loads it.',
  );
});

test.each([
  [false, 'restart_image makes a new image'],
  [true, 'ask the user to load lisp/attach.lisp into it again'],
])('an answer that cannot be used is told with what to do (attached: %s)', async (isAttached, remedy) => {
  const tool = defineTool({
    name: 'look',
    description: 'Look.',
    parameters: [],
    handler: async () => JSON.parse('{"text":5}') as { data: object; text: string },
  });
  await expect(withAnswerChecks(tool, { isAttached }).handler({}, {})).rejects.toThrow(
    `The image sent a malformed answer, so the call failed. Code in the image may have written to the connection to live-lisp. Call again; if that does not help, ${remedy}. If calls still fail like this, live-lisp is at fault: please report it.`,
  );
});

test('what others have changed is named', () => {
  const texts = ['SHOP::PRICE', '12 names in /shop/shop.lisp'];
  const said =
    'Changed in this image since the last answer, by its user or another agent: SHOP::PRICE, 12 names in /shop/shop.lisp';
  expect(noticeText({ kind: 'changes', changes: { texts, more: 0 } })).toBe(`${said}.`);
  expect(noticeText({ kind: 'changes', changes: { texts, more: 3 } })).toBe(`${said}, and 3 earlier ones.`);
});
