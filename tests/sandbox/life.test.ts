// The life of an image in the sandbox: it starts, is interrupted, ends and is replaced as without. It ends with all
// that it has started.

import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { type Session, startSession } from '../harness.ts';
import { libraries } from '../libraries.ts';
import { lostDuring } from '../said.ts';
import { childrenOf, commandOf, gone, imageOf, marked, until } from '../server/processes.ts';
import { RawServer } from '../server/raw.ts';
import { shell, startSandboxed, workspace } from './cell.ts';
import { sandboxTest as test } from './namespaces.ts';

libraries('alexandria');

const place = workspace();
afterAll(place.remove);

/** A limit in seconds, in which a call comes to what never ends, also on a busy machine. */
const REACHED = 3;
/** How soon nothing may be left of an image whose server, or whose own process, was killed. */
const END_MS = 3000;

/** What a form starts that outlives everything but the sandbox. */
const STRAY =
  '(sb-ext:run-program "/bin/sh" (list "-c" "trap \'\' HUP TERM; setsid sleep 1000 & setsid sleep 1000 &"))';

describe('as without the sandbox', () => {
  let session: Session;
  const sandboxes = join(place.cache, 'live-lisp', 'sandboxes');
  const unused = join(sandboxes, 'unused');
  beforeAll(async () => {
    mkdirSync(join(unused, 'fasls'), { recursive: true, mode: 0o700 });
    utimesSync(unused, 0, 0);
    // What fills a small heap does so soon.
    session = await startSandboxed(place.root, { heap: '128MB', env: { XDG_CACHE_HOME: place.cache } });
  });
  afterAll(() => session.close());

  test.each<[form: string, how: string, or?: string]>([
    ['(exit :code 3)', 'it exited with code 3'],
    ['(sb-ext:run-program "/bin/sh" (list "-c" "kill -9 -1"))', 'it was ended by SIGKILL'],
  ])('%s costs the image, and the next answer tells so', async (form, first, or) => {
    await session.eval('(defvar *mine* 1)');
    const { text, isError } = await session.call('eval_form', { form });
    const how = or !== undefined && text.includes(or) ? or : first;
    expect([text, isError]).toEqual([`Error: ${lostDuring(how)}`, true]);
    const next = await session.call('eval_form', { form: "(boundp '*mine*)" });
    expect([next.text, next.notices.length]).toEqual(['T', 1]);
    expect(next.notices[0]).toContain(
      `This is a new Lisp image; the one before was lost: ${how}. Rebuilt in `,
    );
  });

  test('what cannot be interrupted is replaced, with what it has started', async () => {
    const bwrap = await imageOf(session.pid);
    await session.eval(STRAY);
    const { text } = await session.call('eval_form', {
      form: '(sb-sys:without-interrupts (loop))',
      timeout: REACHED,
    });
    expect(text).toContain('a call could not be interrupted, so the image had to be replaced');
    await gone(bwrap, END_MS);
    expect(await session.eval('1')).toBe('1');
  });

  test('files, forms and systems are compiled and loaded, and the server sees what was written', async () => {
    writeFileSync(join(place.root, 'some.lisp'), '(defun boxed () (undefined-here))\n');
    writeFileSync(join(place.root, 'boxed.asd'), '(defsystem "boxed" :components ((:file "some")))');
    expect(await session.text('load_file', { path: 'some.lisp' })).toMatch(
      /^Loaded some\.lisp[\s\S]*undefined-here/i,
    );
    expect(await session.text('compile_form', { form: '(defun f () (g))' })).toContain('undefined function');
    expect(await session.text('load_system', { system: 'boxed' })).toMatch(/^Loaded system boxed/);
    expect(await session.text('load_system', { system: 'alexandria' })).toMatch(/^Loaded system alexandria/);
    expect(
      await shell(
        session,
        'find "$TMPDIR" -maxdepth 1 -name "live-lisp-????*" -not -name "live-lisp-test-*"',
      ),
    ).toBe('0');
    const form = '(hash-table-p (live-lisp:call-tool "read_file" :path "some.lisp"))';
    expect(await session.eval(form)).toBe('T');
  });

  test('what is compiled goes where no image outside looks, and what no server has used for 30 days is gone', async () => {
    await until('the removal', 60_000, () => readdirSync(sandboxes).length === 1);
    expect(existsSync(unused)).toBe(false);
    expect(readdirSync(place.cache)).toEqual(['live-lisp']);
    const [name = ''] = readdirSync(sandboxes);
    expect(await shell(session, `cd ${sandboxes}/${name} && find . -name "alexandria*" | wc -l`)).toMatch(
      /^0 [1-9]/,
    );
    expect(existsSync(join(place.root, 'some.fasl'))).toBe(false);
  });
});

describe('nothing is left', () => {
  /** Starts a server with an image in the sandbox and strays, hands it to END, and waits until nothing is left. */
  async function expectEnd(end: (server: RawServer, bwrap: number) => unknown): Promise<void> {
    const mark = randomUUID();
    const server = await new RawServer({
      args: ['--sandbox', 'strict', '--root', place.root],
      env: { LIVE_LISP_TEST: mark, XDG_CACHE_HOME: place.cache },
    }).connect();
    await server.eval(STRAY);
    // The server, both processes of bubblewrap, SBCL and the strays.
    await until('all processes', END_MS, () => marked(mark).length === 6);
    const bwrap = await imageOf(server.pid);
    await end(server, bwrap);
    await until('the end of the sandbox', END_MS, () => marked(mark).every((pid) => pid === server.pid));
    await server.kill();
    // What the server was just tidying up with, such as an rmdir, may outlive it for a moment.
    await until('the end of all its processes', END_MS, () => marked(mark).length === 0);
  }

  /** Returns PID. Throws when that is none: a signal to 0 would go to these tests. */
  const known = (pid: number | undefined): number => {
    if (pid === undefined) throw new Error('There is no such process.');
    return pid;
  };
  const inner = (bwrap: number) => known(childrenOf(bwrap)[0]);
  const image = (bwrap: number) =>
    known(childrenOf(inner(bwrap)).find((pid) => commandOf(pid).includes('sbcl')));

  test.each<[string, (server: RawServer, bwrap: number) => unknown]>([
    ['kill -9 of the server', (server) => server.kill()],
    ['kill -9 of bubblewrap', (_, bwrap) => process.kill(bwrap, 'SIGKILL')],
    ['kill -9 of SBCL', (_, bwrap) => process.kill(image(bwrap), 'SIGKILL')],
    [
      'a stopped SBCL and the end of stdin',
      (server, bwrap) => {
        process.kill(image(bwrap), 'SIGSTOP');
        server.end();
      },
    ],
  ])('after %s', async (_, end) => {
    await expectEnd(end);
  });

  test('after kill -9 of the server while the image starts', async () => {
    const mark = randomUUID();
    const server = new RawServer({
      args: ['--sandbox', 'strict', '--root', place.root],
      env: { LIVE_LISP_TEST: mark },
    });
    server.write(server.greeting().line);
    await imageOf(server.pid);
    await server.kill();
    await until('the end of all its processes', END_MS, () => marked(mark).length === 0);
  });
});

test('two servers over one workspace have a sandbox each', async () => {
  const name = `mine-${process.pid}`;
  const env = { XDG_CACHE_HOME: place.cache };
  const sessions = await Promise.all([startSandboxed(place.root, { env }), startSession({ env })]);
  try {
    const [one, other] = sessions;
    expect(await shell(one, `echo here > "$TMPDIR/${name}"; ls "$TMPDIR" | grep ${name}`)).toBe(`0 ${name}`);
    expect(await other.eval(`(probe-file "/tmp/${name}")`)).toBe('NIL');
  } finally {
    await Promise.all(sessions.map((session) => session.close()));
  }
});
