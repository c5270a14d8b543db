// A file system that does not answer, as one of a network can, in the place of a folder that the server was given.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, expect } from 'vitest';
import { temporaryFolder } from '../harness.ts';
import { within } from '../load.ts';
import { until } from '../server/processes.ts';
import { type RawOptions, RawServer, textOf } from '../server/raw.ts';
import { workspace } from './cell.ts';
import { mounting, mountTest } from './namespaces.ts';

const place = workspace();
const other = temporaryFolder();
afterAll(() => {
  place.remove();
  other.remove();
});

/** What a server runs in, so that only it sees the mounts of a test. */
const NAMESPACE = ['unshare', '-rm'];

/** Milliseconds in which a server answers a ping: one that hangs never does. */
const PING_MS = 5000;

let server: RawServer;
const servers: RawServer[] = [];
const programs: ChildProcess[] = [];
afterEach(async () => {
  for (const each of servers.splice(0)) await each.kill();
  // The file systems fail then, instead of being silent.
  for (const program of programs.splice(0)) program.kill('SIGKILL');
});

function start(options: RawOptions = {}): RawServer {
  const { args = [], env = {}, within = NAMESPACE } = options;
  server = new RawServer({
    args: ['--root', place.root, '--heap', '512MB', '--sandbox', 'on', ...args],
    env: { XDG_CACHE_HOME: place.cache, ...env },
    cwd: '/',
    within,
  });
  servers.push(server);
  return server;
}

/** Puts a file system that never answers into the place of the folder DIR, as the server sees it. */
async function silence(dir: string): Promise<void> {
  const command = `${mounting(dir)} && echo mounted && exec sleep 600`;
  const program = spawn('nsenter', [
    '-t',
    String(server.pid),
    '-U',
    '-m',
    '--preserve-credentials',
    'sh',
    '-c',
    command,
  ]);
  programs.push(program);
  await once(program.stdout, 'data');
}

function silent(dir: string): string {
  return `The file system of ${dir} does not answer. Ask the user to repair that mount, to unmount it (umount -l), or to start the server without that folder. Then call again.`;
}

/** Calls the tool NAME, and meanwhile a ping that has to be answered. Returns the text of its answer. */
async function withoutPings(name: string, args: object): Promise<string> {
  const call = server.callLine(name, args);
  server.write(call.line);
  while (!server.messages.some(({ id }) => id === call.id)) {
    await within(PING_MS, () => server.send(server.request('ping')));
  }
  return textOf(await server.answer(call.id));
}

/** Resolves when SERVER has ended. */
function end(of: RawServer): Promise<unknown> {
  return until('its end', 10_000, () => of.process.exitCode !== null || of.process.signalCode !== null);
}

/** Ends the image, and waits until the server knows. */
async function endImage(): Promise<void> {
  await server.eval('(sb-ext:exit :abort t)');
}

/** Has the file system of DIR stop answering while an image of SERVER runs, and then end that image. */
async function loseImage(dir: string): Promise<void> {
  await server.connect();
  expect(await server.eval('(+ 1 2)')).toContain('3');
  await silence(dir);
  // An image that runs needs the folder no more.
  expect(await withoutPings('eval_form', { form: '(+ 2 3)' })).toContain('5');
  await endImage();
  expect(await withoutPings('eval_form', { form: '(+ 1 2)' })).toBe(silent(dir));
}

mountTest('a cache that does not answer while the server runs, which ends by a signal then', async () => {
  start();
  await loseImage(join(place.cache, 'live-lisp'));
  server.process.kill('SIGTERM');
  await end(server);
});

mountTest(
  'a root that does not answer while the server runs; once it answers again, the next call works',
  async () => {
    start();
    await loseImage(place.root);
    const unmounting = spawn('nsenter', [
      '-t',
      String(server.pid),
      '-U',
      '-m',
      '--preserve-credentials',
      'umount',
      '-l',
      place.root,
    ]);
    await once(unmounting, 'exit');
    for (const program of programs.splice(0)) program.kill('SIGKILL');
    await until('an image', 60_000, async () => (await server.eval('(+ 1 2)')).includes('3'));
  },
);

mountTest('file tools name a root that does not answer', async () => {
  writeFileSync(join(place.root, 'a.lisp'), '1\n');
  await start().connect();
  await server.eval('1');
  await silence(place.root);
  const text = await withoutPings('read_file', { path: 'a.lisp' });
  expect(text).toBe(
    'a.lisp cannot be read: its file system does not answer. Ask the user to repair that mount, to unmount it (umount -l), or to start the server without that folder. Then call again.',
  );
  server.end();
  await end(server);
});

mountTest('a folder in a root that does not answer keeps an image from starting, and is named', async () => {
  const folder = join(place.root, 'mounted');
  mkdirSync(folder, { recursive: true });
  await start().connect();
  await server.eval('1');
  await silence(folder);
  await endImage();
  expect(await withoutPings('eval_form', { form: '(+ 1 2)' })).toBe(silent(folder));
});

mountTest(
  'a root, a read root, a mapped folder or a cache that does not answer at the start is told to the client',
  async () => {
    const folders: [dir: string, options: RawOptions][] = [
      [place.root, {}],
      [other.path, { args: ['--read-root', other.path] }],
      [other.path, { args: ['--image', 'there=cat', '--map', `there:${other.path}=/srv/app`] }],
      [join(place.cache, 'live-lisp'), {}],
    ];
    const tell = async ([dir, options]: (typeof folders)[number]) => {
      mkdirSync(dir, { recursive: true });
      const mounted = [...NAMESPACE, 'sh', '-c', `${mounting(dir)} && exec "$@"`, 'sh'];
      const started = start({ ...options, within: mounted });
      const reply = await started.send(started.greeting());
      expect(reply.error).toEqual({ code: -32000, message: `live-lisp cannot start: ${silent(dir)}` });
      await end(started);
    };
    await Promise.all(folders.map(tell));
  },
);
