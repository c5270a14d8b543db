// Clients without a human of their own: what their models want to do is approved on the page.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { anySession } from '../door/editor.ts';
import { openPage, useBrowser } from '../page/browser.ts';
import { converse, evaluation, PROMPT } from './conversation.ts';
import { HOSTS } from './hosts.ts';
import { runHeadless } from './place.ts';

useBrowser();

const PATIENCE_MS = 180_000;

/** The file that ends the first step. */
const LOOKED = 'looked';
const STEPS = [
  evaluation(`(loop until (probe-file "${LOOKED}") do (sleep 0.05))`),
  { tool: 'write_file', args: { path: 'new.lisp', content: '(print 1)\n' } },
];

test.each(HOSTS.map((host) => [host.name, host] as const))(
  'a dangerous call of %s is approved on the page',
  async (_, host) => {
    await converse(host, STEPS, {}, async ({ place, script }) => {
      const ended = runHeadless(place, PROMPT, PATIENCE_MS);
      const path = await anySession(place.setup.serverEnvironment['LIVE_LISP_SERVING'] ?? '');
      const page = await openPage({ path });
      writeFileSync(join(place.setup.workspace, LOOKED), '');
      await page.getByText('Approve write_file (dangerous)? new file, +1 −0, in new.lisp').first().waitFor();
      await page.getByRole('button', { name: 'Approve once' }).click();
      await ended;
      expect(script.went[1]?.read).toContain('Wrote 10 bytes to new.lisp');
    });
  },
);
