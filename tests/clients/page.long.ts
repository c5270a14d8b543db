// Claude Code without a human of its own: what its model wants to do is approved on the page. Codex is not here, since
// without a human it declines each question itself, which counts as a denial.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sessionsIn } from '../door/editor.ts';
import { openPage, useBrowser } from '../page/browser.ts';
import { converse, evaluation, PROMPT } from './conversation.ts';
import { CLAUDE_CODE } from './hosts.ts';
import { runHeadless } from './place.ts';

useBrowser();

const PATIENCE_MS = 180_000;

/** The file that ends the first step. */
const LOOKED = 'looked';
const STEPS = [
  evaluation(`(loop until (probe-file "${LOOKED}") do (sleep 0.05))`),
  { tool: 'write_file', args: { path: 'new.lisp', content: '(print 1)\n' } },
];

test('a dangerous call of Claude Code is approved on the page', async () => {
  await converse(CLAUDE_CODE, STEPS, {}, async ({ place, script }) => {
    const ended = runHeadless(place, PROMPT, PATIENCE_MS);
    const [path = ''] = await sessionsIn(place.setup.serverEnvironment['LIVE_LISP_SERVING'] ?? '');
    const page = await openPage({ path });
    writeFileSync(join(place.setup.workspace, LOOKED), '');
    await page.getByText('Approve write_file (dangerous)? new file, +1 −0, in new.lisp').first().waitFor();
    await page.getByRole('button', { name: 'Approve once' }).click();
    await ended;
    expect(script.went[1]?.read).toContain('Wrote 10 bytes to new.lisp');
  });
});
