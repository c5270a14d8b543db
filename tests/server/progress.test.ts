// What a client that asks for progress hears while its call waits and runs.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ERAS, type Session, startSession, temporaryFolder } from '../harness.ts';
import { pause, until } from './processes.ts';
import { RawServer } from './raw.ts';

interface Heard {
  progress: number;
  message?: string;
}

/** Calls the tool NAME of SESSION with ARGS and returns its answer and the progress that was told. */
async function heard(session: Session, name: string, args: Record<string, unknown>) {
  const progress: Heard[] = [];
  const answer = await session.call(name, args, { onprogress: (each: Heard) => progress.push(each) });
  return { ...answer, messages: progress.map(({ message = '' }) => message), progress };
}

function strictlyIncreasing(progress: Heard[]): boolean {
  return progress.every(({ progress: value }, index) => value > (progress[index - 1]?.progress ?? 0));
}

describe.each(ERAS)('in the %s era', (era) => {
  let session: Session;
  beforeAll(async () => {
    session = await startSession({ era });
    await session.eval('1');
  });
  afterAll(() => session.close());

  test('it comes each second, strictly increasing, with time, output so far and its last line', async () => {
    const form = '(progn (format t "One.~%twelve chars  ~%~%") (sleep 2.5) :done)';
    const { text, messages, progress } = await heard(session, 'eval_form', { form });
    expect(text).toBe(':DONE\n\nOutput:\nOne.\ntwelve chars');
    expect(messages).toEqual(
      [1, 2].map((second) =>
        expect.stringMatching(
          new RegExp(`^${second}\\.\\d s, 21 characters of output, last line: twelve chars$`),
        ),
      ),
    );
    expect(strictlyIncreasing(progress)).toBe(true);
  });
});

describe('a call', () => {
  let session: Session;
  beforeAll(async () => {
    session = await startSession();
    await session.eval('1');
  });
  afterAll(() => session.close());

  test('that writes one long line, or returns to its beginning, has its end told', async () => {
    const long = '(progn (dotimes (n 300) (format t "~36R" (mod n 36))) (sleep 1.2))';
    expect((await heard(session, 'eval_form', { form: long })).messages).toEqual([
      expect.stringMatching(/^1\.\d s, 300 characters of output, last line: \.\.\.[0-9A-Z]{77}\.\.\.$/),
    ]);
    const bar = '(progn (dotimes (n 5) (format t "~D%~C" n (code-char 13))) (sleep 1.2))';
    expect((await heard(session, 'eval_form', { form: bar })).messages).toEqual([
      expect.stringMatching(/^1\.\d s, 15 characters of output, last line: 4%$/),
    ]);
  });

  test('that runs while the image does not react hears for how long', async () => {
    const stands = heard(session, 'eval_form', {
      form: '(sb-sys:without-gcing (loop repeat 280 do (sleep 0.01)))',
    });
    await until('its beginning', 2000, async () =>
      (await session.text('image_status')).includes('1 call runs'),
    );
    const collects = session.eval('(gc)');
    const { messages } = await stands;
    expect(messages).toContainEqual(
      expect.stringMatching(
        /^[2-4]\.\d s, the image has not reacted for 1\.\d s; it may be collecting garbage$/,
      ),
    );
    await collects;
  });

  test('that makes garbage hears for how long that was collected', async () => {
    const form =
      '(loop with end = (+ (get-universal-time) 3) with all while (< (get-universal-time) end) do (setf all (make-list 1000000)) (gc) finally (return (length all)))';
    const { messages } = await heard(session, 'eval_form', { form });
    expect(messages.at(-1)).toMatch(/^\d\.\d s, \d\.\d s of it collecting garbage$/);
  });

  test('that waits hears behind how many', async () => {
    const running = Array.from({ length: 8 }, () => session.eval('(sleep 1.5)'));
    const ninth = heard(session, 'eval_form', { form: '1' });
    const tenth = heard(session, 'eval_form', { form: '2' });
    await Promise.all(running);
    expect((await ninth).messages[0]).toMatch(/^1\.\d s, waiting behind 8 calls that run$/);
    expect((await tenth).messages[0]).toMatch(/^1\.\d s, waiting behind 8 calls that run and 1 that waits$/);
  });

  test('that compiles waits behind the one that does', async () => {
    const first = session.call('compile_form', { form: '(eval-when (:compile-toplevel) (sleep 1.6))' });
    const { messages } = await heard(session, 'compile_form', { form: '(list 1)' });
    expect(messages).toEqual([expect.stringMatching(/^1\.\d s, waiting behind 1 call that runs$/)]);
    await first;
  });
});

describe('on the wire', () => {
  let server: RawServer;
  beforeAll(async () => {
    server = await new RawServer().connect();
  });
  afterAll(() => server.kill());

  const progressOf = (token: string | number) =>
    server.messages.filter(
      ({ method, params }) => method === 'notifications/progress' && params?.['progressToken'] === token,
    );
  const slow = (token?: string | number, seconds = 1.3) => ({
    name: 'eval_form',
    arguments: { form: `(sleep ${seconds})` },
    ...(token !== undefined && { _meta: { progressToken: token } }),
  });

  test('a client that asks for none gets none, one that asks gets its own', async () => {
    const calls = [slow(), slow('a token'), slow(0)].map((params) => server.request('tools/call', params));
    await Promise.all(calls.map((call) => server.send(call)));
    const all = server.messages.filter(({ method }) => method !== undefined);
    expect(progressOf('a token').length).toBeGreaterThan(0);
    expect(progressOf(0).length).toBeGreaterThan(0);
    expect(all).toHaveLength(progressOf('a token').length + progressOf(0).length);
  });

  test('none comes after the answer, also when that comes as the second is over', async () => {
    const calls = Array.from({ length: 8 }, (_, index) =>
      server.request('tools/call', slow(`late ${index}`, 0.996 + index / 1000)),
    );
    await Promise.all(calls.map((call) => server.send(call)));
    await pause(1200);
    for (const [index, { id }] of calls.entries()) {
      const answered = server.messages.findIndex((each) => each.id === id);
      const told = progressOf(`late ${index}`).map((each) => server.messages.indexOf(each));
      expect(told.every((at) => at < answered)).toBe(true);
    }
  });
});

test('loading a system tells the start of the image, and the file it is at, compiled or loaded', async () => {
  const root = temporaryFolder();
  writeFileSync(join(root.path, 'init.lisp'), '(sleep 1.6)\n');
  const session = await startSession({
    args: ['--root', root.path, '--init', join(root.path, 'init.lisp')],
    env: { ASDF_OUTPUT_TRANSLATIONS: `/:${root.path}/cache/` },
  });
  try {
    const components = '((:file "slow-to-compile") (:file "slow-to-load"))';
    writeFileSync(join(root.path, 'big.asd'), `(asdf:defsystem "big" :serial t :components ${components})\n`);
    writeFileSync(join(root.path, 'slow-to-compile.lisp'), '(eval-when (:compile-toplevel) (sleep 1.6))\n');
    writeFileSync(join(root.path, 'slow-to-load.lisp'), '(sleep 1.6)\n');
    const { text, messages, progress } = await heard(session, 'load_system', { system: 'big' });
    expect(text).toBe('Loaded system big');
    expect(strictlyIncreasing(progress)).toBe(true);
    expect(messages[0]).toMatch(/^1\.\d s, waiting for the Lisp image to start$/);
    const kinds = [
      /^\d+\.\d s, waiting for the Lisp image to start$/,
      // Between two files it is at none.
      /^\d+\.\d s(, \d\.\d s of it collecting garbage)?(, \/\S+\.(lisp|fasl|asd))?$/,
    ];
    for (const message of messages)
      expect(
        kinds.some((kind) => kind.test(message)),
        message,
      ).toBe(true);
    for (const name of ['slow-to-compile', 'slow-to-load']) {
      expect(messages.some((message) => message.includes(name))).toBe(true);
    }
  } finally {
    await session.close();
    root.remove();
  }
});
