// What a client that asks for progress hears while its call waits and runs. It hears more often here than users do.

import { randomUUID } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ERAS, type Session, startSession, temporaryFolder } from '../harness.ts';
import { sharedFolder, sharedSession } from '../shared.ts';
import { until } from './processes.ts';
import { RawServer } from './raw.ts';

interface Heard {
  progress: number;
  message?: string;
}

const WAITS = { image: { progress: 100 } };
const folder = sharedFolder();

/** What a call waits for that is to be heard of: a form, and the function that lets it go on. */
function gate(): { form: string; open: () => void } {
  const file = join(folder.path, randomUUID());
  return {
    form: `(loop until (probe-file "${file}") do (sleep 0.01))`,
    open: () => writeFileSync(file, ''),
  };
}

/** Calls the tool NAME of SESSION with ARGS and returns its answer and the progress that was told. ONPROGRESS is told
 *  of each. */
async function heard(
  session: Session,
  name: string,
  args: Record<string, unknown>,
  onProgress: (heard: Heard[]) => void = () => {},
) {
  const progress: Heard[] = [];
  const hear = (each: Heard) => {
    progress.push(each);
    onProgress(progress);
  };
  const answer = await session.call(name, args, { onprogress: hear });
  return { ...answer, messages: progress.map(({ message = '' }) => message), progress };
}

/** Evaluates FORM in SESSION, lets it go on by OPEN once progress like REPORTED is heard, and resolves at its end. */
async function heardUntil(session: Session, form: string, reported: RegExp, open: () => void): Promise<void> {
  const { messages } = await heard(session, 'eval_form', { form }, (all) => {
    if (reported.test(all.at(-1)?.message ?? '')) open();
  });
  expect(messages).toContainEqual(expect.stringMatching(reported));
}

/** Returns a pattern of the progress that says REST, a pattern. On a busy machine it can say before that that the image had
 *  no time to react. */
function progressLine(rest: string): RegExp {
  const collected = '(, \\d+\\.\\d s of it collecting garbage)?';
  const silent = '(, the image has not responded for \\d+\\.\\d s; it may be collecting garbage)?';
  return new RegExp(`^\\d+\\.\\d s${collected}${silent}${rest}$`);
}

function strictlyIncreasing(progress: Heard[]): boolean {
  return progress.every(({ progress: value }, index) => value > (progress[index - 1]?.progress ?? 0));
}

describe.each(ERAS)('in the %s era', (era) => {
  const session = sharedSession({ era, waits: WAITS }, '1');

  test('it comes again and again, strictly increasing, with time, output so far and its last line', async () => {
    const { form, open } = gate();
    const whole = progressLine(', 21 characters of output, last line: twelve chars');
    const isWhole = ({ message = '' }: Heard) => whole.test(message);
    const { text, progress } = await heard(
      session,
      'eval_form',
      { form: `(progn (format t "One.~%twelve chars  ~%~%") ${form} :done)` },
      (all) => all.filter(isWhole).length === 3 && open(),
    );
    expect(text).toBe(':DONE\n\nOutput:\nOne.\ntwelve chars');
    // On a busy machine the first can come before the form has written all.
    expect(progress.slice(progress.findIndex(isWhole)).filter((each) => !isWhole(each))).toEqual([]);
    expect(strictlyIncreasing(progress)).toBe(true);
  });
});

describe('a call', () => {
  const session = sharedSession({ waits: WAITS }, '1');

  test.each([
    [
      'writes one long line',
      '(dotimes (n 300) (format t "~36R" (mod n 36)))',
      /^\d+\.\d s, 300 characters of output, last line: \.\.\.[0-9A-Z]{77}\.\.\.$/,
    ],
    [
      'returns to the beginning of its line',
      '(dotimes (n 5) (format t "~D%~C" n (code-char 13)))',
      /^\d+\.\d s, 15 characters of output, last line: 4%$/,
    ],
  ])('that %s has its end told', async (_, written, reported) => {
    const { form, open } = gate();
    await heardUntil(session, `(progn ${written} ${form})`, reported, open);
  });

  test('that runs while the image does not react hears for how long', async () => {
    const { form, open } = gate();
    const silent = /^\d+\.\d s, the image has not responded for \d+\.\d s; it may be collecting garbage$/;
    const inside = join(folder.path, 'without-gcing');
    const code = `(sb-sys:without-gcing (close (open "${inside}" :direction :output)) ${form})`;
    const stands = heardUntil(session, code, silent, open);
    await until('its beginning', 60_000, () => existsSync(inside));
    await Promise.all([session.eval('(gc)'), stands]);
  });

  test('that makes garbage hears for how long that was collected', async () => {
    const flag = join(folder.path, 'collected');
    const reported = /^\d+\.\d s, \d+\.\d s of it collecting garbage$/;
    const form = `(loop with all until (probe-file "${flag}") do (setf all (make-list 1000000)) (gc) finally (return (length all)))`;
    await heardUntil(session, form, reported, () => writeFileSync(flag, ''));
  });

  test('that waits hears behind how many', async () => {
    const { form, open } = gate();
    const running = Array.from({ length: 8 }, () => session.eval(form));
    const ninth = heard(session, 'eval_form', { form: '1' });
    const tenth = heard(session, 'eval_form', { form: '2' }, open);
    await Promise.all(running);
    expect((await ninth).messages[0]).toMatch(/^\d+\.\d s, waiting behind 8 calls that run$/);
    expect((await tenth).messages[0]).toMatch(
      /^\d+\.\d s, waiting behind 8 calls that run and 1 that waits$/,
    );
  });

  test('that compiles waits behind the one that does', async () => {
    const { form, open } = gate();
    const first = session.call('compile_form', { form: `(eval-when (:compile-toplevel) ${form})` });
    const { messages } = await heard(session, 'compile_form', { form: '(list 1)' }, open);
    expect(messages[0]).toMatch(/^\d+\.\d s, waiting behind 1 call that runs$/);
    await first;
  });
});

describe('on the wire', () => {
  let server: RawServer;
  beforeAll(async () => {
    server = await new RawServer({ waits: WAITS }).connect();
  });
  afterAll(() => server.kill());

  const progressOf = (token: string | number) =>
    server.messages.filter(
      ({ method, params }) => method === 'notifications/progress' && params?.['progressToken'] === token,
    );
  const heardOf = (token: string | number) => progressOf(token).length > 0;
  const calling = (form: string, token?: string | number) => ({
    name: 'eval_form',
    arguments: { form },
    ...(token !== undefined && { _meta: { progressToken: token } }),
  });

  test('a client that asks for none gets none, one that asks gets its own', async () => {
    const { form, open } = gate();
    const calls = [calling(form), calling(form, 'a token'), calling(form, 0)];
    const answers = calls.map((params) => server.send(server.request('tools/call', params)));
    await until('progress of both', 60_000, () => heardOf('a token') && heardOf(0));
    open();
    await Promise.all(answers);
    const all = server.messages.filter(({ method }) => method !== undefined);
    expect(all).toHaveLength(progressOf('a token').length + progressOf(0).length);
  });

  test('none comes after the answer, also when that comes as the next is due', async () => {
    const calls = Array.from({ length: 8 }, (_, index) =>
      server.request('tools/call', calling(`(sleep ${0.096 + index / 1000})`, `late ${index}`)),
    );
    await Promise.all(calls.map((call) => server.send(call)));
    // What a later call hears comes behind all that they could hear.
    const { form, open } = gate();
    const behind = server.send(server.request('tools/call', calling(form, 'behind')));
    await until('its progress', 60_000, () => heardOf('behind'));
    open();
    await behind;
    for (const [index, { id }] of calls.entries()) {
      const answered = server.messages.findIndex((each) => each.id === id);
      const reported = progressOf(`late ${index}`).map((each) => server.messages.indexOf(each));
      expect(reported.every((at) => at < answered)).toBe(true);
    }
  });
});

test('loading a system tells the start of the image, and the file it is at, compiled or loaded', async () => {
  const root = temporaryFolder();
  const [init, compiled, loaded] = [gate(), gate(), gate()];
  root.put('init.lisp', init.form);
  const session = await startSession({
    args: ['--root', root.path, '--init', join(root.path, 'init.lisp')],
    env: { ASDF_OUTPUT_TRANSLATIONS: `/:${root.path}/cache/` },
    waits: WAITS,
  });
  try {
    const components = '((:file "slow-to-compile") (:file "slow-to-load"))';
    root.put('big.asd', `(asdf:defsystem "big" :serial t :components ${components})\n`);
    root.put('slow-to-compile.lisp', `(eval-when (:compile-toplevel) ${compiled.form})\n`);
    root.put('slow-to-load.lisp', loaded.form);
    const { text, messages, progress } = await heard(session, 'load_system', { system: 'big' }, (all) => {
      const { message = '' } = all.at(-1) ?? {};
      init.open();
      if (message.includes('slow-to-compile')) compiled.open();
      if (message.includes('slow-to-load')) loaded.open();
    });
    expect(text).toBe('Loaded system big');
    expect(strictlyIncreasing(progress)).toBe(true);
    expect(messages[0]).toMatch(/^\d+\.\d s, waiting for the Lisp image to start$/);
    // Between two files it is at none.
    const atFile = progressLine('(, waiting for the Lisp image to start|, /\\S+\\.(lisp|fasl|asd))?');
    for (const message of messages) expect(message).toMatch(atFile);
    for (const name of ['slow-to-compile', 'slow-to-load']) {
      expect(messages.some((message) => message.includes(name))).toBe(true);
    }
  } finally {
    await session.close();
    root.remove();
  }
});
