// When the server starts an image, and what is left when it ends.

import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { ERAS } from '../harness.ts';
import { within } from '../load.ts';
import { sharedFolder } from '../shared.ts';
import { gone, imageOf, imagesOf, marked, until } from './processes.ts';
import { type RawOptions, RawServer, textOf } from './raw.ts';

/** The bound: it exits within a second when stdin ends. */
const EXIT_MS = 1000;
/** The same where the start of node is part of it. */
const START_AND_EXIT_MS = 2 * EXIT_MS;
/** How soon the image follows a server that was killed. */
const CHILD_MS = 20_000;

/** So long a short call may take after the end of stdin, also on a busy machine. */
const PATIENT = { lastAnswersMs: 60_000 };

const folder = sharedFolder();

let servers: RawServer[] = [];
afterEach(async () => {
  const started = servers;
  servers = [];
  await Promise.all(started.map((server) => server.kill()));
});

function start(options: RawOptions = {}): RawServer {
  const server = new RawServer(options);
  servers.push(server);
  return server;
}

/** Starts a server with an image that has answered. */
async function startWithImage(options: RawOptions = {}): Promise<{ server: RawServer; image: number }> {
  const server = await start(options).connect();
  expect(await server.eval('(+ 1 2)')).toBe('3');
  return { server, image: await imageOf(server.pid) };
}

/** Sends a call that evaluates FORM, which never ends, and resolves when the image is busy with it. */
async function occupy(server: RawServer, form: string): Promise<void> {
  server.write(server.callLine('eval_form', { form: `(defvar *busy* t) ${form}` }).line);
  await until(
    'the form being evaluated',
    60_000,
    async () => (await server.eval("(boundp '*busy*)")) === 'T',
  );
}

/** Ends the stdin of SERVER, and resolves with the code that it exits with. */
async function ended(server: RawServer): Promise<number | null> {
  server.end();
  return (await server.exited).code;
}

describe('stdin ends', () => {
  test.each(ERAS)(
    'an idle server in the %s era exits within a second, and its image with it',
    async (era) => {
      const { server, image } = await startWithImage({ era });
      expect(await within(EXIT_MS, () => ended(server))).toBe(0);
      await gone(image, CHILD_MS);
    },
  );

  test('while a form is evaluated that cannot be interrupted: the same', async () => {
    const { server, image } = await startWithImage();
    await occupy(server, '(sb-sys:without-interrupts (loop))');
    await within(EXIT_MS, () => ended(server));
    await gone(image, CHILD_MS);
  });

  test('before any message: it exits, and there never was an image', async () => {
    const mark = randomUUID();
    const server = await within(START_AND_EXIT_MS, async () => {
      const started = start({ env: { LIVE_LISP_TEST: mark } });
      expect(await ended(started)).toBe(0);
      return started;
    });
    expect(server.messages).toEqual([]);
    expect(server.complaints).toEqual([]);
    expect(marked(mark)).toEqual([]);
  });

  test('right after the handshake, while the image starts: nothing is left', async () => {
    const mark = randomUUID();
    const server = start({ env: { LIVE_LISP_TEST: mark } });
    const greeting = server.greeting();
    server.write(greeting.line);
    server.end();
    expect((await server.answer(greeting.id)).error).toBeUndefined();
    expect((await server.exited).code).toBe(0);
    await until('the end of all its processes', CHILD_MS, () => marked(mark).length === 0);
  });

  test('a call that was piped with it waits for an image that starts slowly', async () => {
    const init = join(folder.path, 'slow.lisp');
    writeFileSync(init, '(sleep 4)');
    const server = start({ args: ['--init', init], waits: { lastAnswersMs: 3000 } });
    const call = server.callLine('eval_form', { form: '(* 6 7)' });
    server.write(server.greeting().line + call.line);
    server.end();
    expect(textOf(await server.answer(call.id))).toBe('42');
    expect((await server.exited).code).toBe(0);
  });

  test('a call that goes on is ended, and answered with that', async () => {
    const server = start();
    const call = server.callLine('eval_form', { form: '(sleep 1000)', timeout: 2000 });
    server.write(server.greeting().line + call.line);
    server.end();
    expect(textOf(await server.answer(call.id))).toMatch(/because the server is ending/);
    expect((await server.exited).code).toBe(0);
  });

  test.each(ERAS)('several calls piped with it in the %s era are all answered', async (era) => {
    const server = start({ era, waits: PATIENT });
    const calls = [1, 2, 3].map((n) => server.callLine('eval_form', { form: `(* ${n} ${n})` }));
    server.write(server.greeting().line + calls.map(({ line }) => line).join(''));
    server.end();
    const answers = await Promise.all(calls.map(({ id }) => server.answer(id)));
    expect(answers.map(textOf)).toEqual(['1', '4', '9']);
    expect((await server.exited).code).toBe(0);
  });
});

describe('the server is killed', () => {
  test('with -9, the image being unable to react: the image is gone soon', async () => {
    const { server, image } = await startWithImage();
    await occupy(server, '(sb-sys:without-gcing (loop))');
    server.process.kill('SIGKILL');
    expect((await server.exited).signal).toBe('SIGKILL');
    await gone(image, CHILD_MS);
  });

  test('with -9 before it has read an answer: nothing is left that the image started', async () => {
    const mark = randomUUID();
    const { server, image } = await startWithImage({
      args: ['--no-sandbox'],
      env: { LIVE_LISP_TEST: mark },
    });
    const [go, thread] = [join(folder.path, 'go'), join(folder.path, 'thread')];
    const notesThread = `(with-open-file (out "${thread}" :direction :output) (write-string (namestring (truename "/proc/thread-self")) out))`;
    const starts = '(sb-ext:run-program "/bin/sh" (list "-c" "setsid sleep 1000 &"))';
    await occupy(
      server,
      `(progn ${notesThread} ${starts} (loop until (probe-file "${go}") do (sleep 0.01)))`,
    );
    await until('what it starts', 60_000, () => marked(mark).length === 3);
    const folderOfThread = readFileSync(thread, 'utf8');
    expect(folderOfThread).toContain(`/${image}/task/`);
    server.process.kill('SIGSTOP');
    writeFileSync(go, '');
    await until('the end of the thread that answers', 60_000, () => !existsSync(folderOfThread));
    server.process.kill('SIGKILL');
    await until('the end of all its processes', CHILD_MS, () => marked(mark).length === 0);
  });

  test('with -9 while the image starts: nothing is left', async () => {
    const mark = randomUUID();
    const server = start({ env: { LIVE_LISP_TEST: mark } });
    server.write(server.greeting().line);
    await imageOf(server.pid);
    server.process.kill('SIGKILL');
    await until('the end of all its processes', CHILD_MS, () => marked(mark).length === 0);
  });
});

describe('the image starts', () => {
  test('with the server: it gets ready while the client is answered', async () => {
    const server = start({ args: ['--no-sandbox'] });
    // The complaint shows that the server is up and reads.
    server.write('no message\n');
    await until('a complaint', 60_000, () => server.complaints.length === 1);
    const image = await imageOf(server.pid);
    expect((await server.send(server.greeting())).error).toBeUndefined();
    expect(await server.eval('(sb-unix:unix-getpid)')).toBe(String(image));
  });

  test('once, however many calls wait for it', async () => {
    const server = await start({ args: ['--no-sandbox'] }).connect();
    const calls = Array.from({ length: 5 }, () =>
      server.callLine('eval_form', { form: '(sb-unix:unix-getpid)' }),
    );
    server.write(calls.map(({ line }) => line).join(''));
    const pids = await Promise.all(calls.map(async ({ id }) => Number(textOf(await server.answer(id)))));
    expect(new Set(pids).size).toBe(1);
    expect(imagesOf(server.pid)).toEqual([pids[0]]);
  });
});
