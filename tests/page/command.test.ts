// The command page, and the flag --page: what they print, and for which session.

import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { Shell } from '../command/shell.ts';
import { until } from '../server/processes.ts';
import { ownSession, sharedFolder } from '../shared.ts';

const sharedPlace = sharedFolder();
const shell = new Shell(sharedPlace.path, { DISPLAY: '', WAYLAND_DISPLAY: '' });
afterAll(() => shell.end());

const LINK = /^http:\/\/127\.0\.0\.1:\d+\/#[\w-]{43}\n$/;

test('the command prints another link each time, to the page of one session, which it starts', async () => {
  const first = await shell.run(['page']);
  expect(first.stderr).toMatch(
    /^live-lisp: Started a session for .* \(process \d+\)\. It ends 30 minutes after/,
  );
  expect(first).toMatchObject({ code: 0, stdout: expect.stringMatching(LINK) });
  const second = await shell.run(['page', '--json']);
  expect(second).toMatchObject({ code: 0, stderr: '' });
  const { link } = JSON.parse(second.stdout) as { link: string };
  expect(`${link}\n`).toMatch(LINK);
  expect(new URL(link).origin).toBe(new URL(first.stdout).origin);
  expect(`${link}\n`).not.toBe(first.stdout);
  const files = await Promise.all(['', 'page.js'].map((path) => fetch(new URL(path, link))));
  expect(files.map(({ status }) => status)).toEqual([200, 200]);
});

test('on a desktop the command opens the page by another link than the printed one', async () => {
  const folder = sharedPlace.path;
  const opened = join(folder, 'opened');
  // What a desktop has as xdg-open.
  sharedPlace.put(
    'bin/xdg-open',
    `#!/bin/sh\nprintf '%s\\n' "$1" > '${opened}.part' && mv '${opened}.part' '${opened}'\n`,
  );
  chmodSync(join(folder, 'bin', 'xdg-open'), 0o755);
  const env = { DISPLAY: ':99', PATH: `${join(folder, 'bin')}:${process.env['PATH']}` };
  const desktop = new Shell(join(folder, 'desktop'), env);
  onTestFinished(() => desktop.end());
  const { stdout } = await desktop.run(['page']);
  await until('the opened link', 60_000, () => existsSync(opened));
  const link = readFileSync(opened, 'utf8');
  for (const each of [stdout, link]) expect(each).toMatch(LINK);
  expect(new URL(link).origin).toBe(new URL(stdout).origin);
  expect(link).not.toBe(stdout);
});

test('the command takes no other words', async () => {
  expect(await shell.run(['page', 'one'])).toEqual({
    code: 2,
    stdout: '',
    stderr: 'live-lisp: Usage: live-lisp page\n',
  });
});

test('a session that has no page is named, with what to do', async () => {
  const old = new Shell(join(shell.workspace, 'old'), { DISPLAY: '', WAYLAND_DISPLAY: '' });
  await old.announce(old.facts(), (socket) =>
    socket.once('data', () => socket.end('{"jsonrpc":"2.0","id":1,"error":{"message":"No such method."}}\n')),
  );
  const { code, stderr } = await old.run(['page', '--session', String(process.pid)]);
  old.closeAnnounced();
  expect(stderr).toBe(
    `live-lisp: The session ${process.pid} of ${old.workspace} gave no link to its page: No such method. If the session is of an older version, end it, and run this command again.\n`,
  );
  expect(code).toBe(4);
});

test('a server with --page tells its address, and no link', async () => {
  const session = await ownSession({ args: ['--page'] });
  await session.call('image_status');
  const said = await until(
    'the address of the page',
    60_000,
    () => /The page of this session is at .*\n/.exec(session.stderr)?.[0],
  );
  expect(said).toMatch(
    /^The page of this session is at http:\/\/127\.0\.0\.1:\d+; live-lisp page prints a link that lets you in\.\n$/,
  );
});
