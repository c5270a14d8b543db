// Servers over one workspace share the empty folders that stand for names which code must not create.

import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect } from 'vitest';
import { Placeholders } from '../../src/image/sandbox/placeholders.ts';
import { temporaryFolder } from '../harness.ts';
import { until } from '../server/processes.ts';
import { RawServer } from '../server/raw.ts';
import { sandboxTest as test } from './namespaces.ts';

const folder = temporaryFolder();
afterAll(folder.remove);

test('one that starts while another removes its folders has its own afterwards', async () => {
  const [root, state, bin] = ['root', 'state', 'bin'].map((name) => join(folder.path, name)) as [
    string,
    string,
    string,
  ];
  for (const each of [root, bin]) mkdirSync(each);
  const removing = join(folder.path, 'removing');
  writeFileSync(join(bin, 'rmdir'), `#!/bin/sh\n: > "${removing}"\nsleep 0.3\nexec /bin/rmdir "$@"\n`);
  chmodSync(join(bin, 'rmdir'), 0o755);
  const held = join(root, '.codex');
  const ending = await new RawServer({
    args: ['--sandbox', 'on', '--root', root],
    env: { XDG_STATE_HOME: state, PATH: `${bin}:${process.env['PATH']}` },
  }).connect();
  expect(await ending.eval('1')).toBe('1');
  expect(existsSync(held)).toBe(true);
  ending.end();
  await until('the removal', 10_000, () => existsSync(removing));
  await new Placeholders(join(state, 'live-lisp', 'placeholders')).occupy([held]);
  await ending.exited;
  expect(existsSync(held)).toBe(true);
});

test.each([
  [
    'a time of tomorrow',
    (lock: string) => {
      mkdirSync(lock);
      const tomorrow = Date.now() / 1000 + 86_400;
      utimesSync(lock, tomorrow, tomorrow);
    },
  ],
  ['a link that leads nowhere', (lock: string) => symlinkSync('nowhere', lock)],
])('a lock with %s is not waited for', async (_, make) => {
  const notes = mkdtempSync(join(folder.path, 'notes-'));
  make(join(notes, 'lock'));
  const held = join(notes, '.codex');
  await new Placeholders(notes).occupy([held]);
  expect(existsSync(held)).toBe(true);
});
