// Several servers in one image that somebody else runs: each has what it holds for itself, and leaves the rest alone.

import type { ChildProcess } from 'node:child_process';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { AttachedImage } from '../../src/image/attached/attached-image.ts';
import type { Series } from '../../src/image/wire/series.ts';
import { TIMES } from '../../src/image/wire/times.ts';
import { temporaryFolder } from '../harness.ts';
import { until } from '../server/processes.ts';
import { startSbcl, toolCaller } from './attached-sbcl.ts';
import { described } from './served.ts';

/** A thread of the person's program that handles an error when *GO* is set, and then sets *WENT*. */
const WORKER = `(progn (defvar *go* nil) (defvar *went* nil)
  (sb-thread:make-thread (lambda ()
    (loop until *go* do (sleep 0.01))
    (handler-case (parse-integer "x") (error () (setf *went* t))))))`;

const folder = temporaryFolder();
let socket: string;
let sbcl: ChildProcess;

beforeAll(async () => {
  ({ sbcl, socket } = await startSbcl(folder.path, { before: [WORKER], cwd: folder.path, silent: true }));
});
afterAll(() => {
  sbcl.kill('SIGKILL');
  folder.remove();
});

const images: AttachedImage[] = [];
/** Returns a server in the image, with what calls its tools. SERIES numbers what it shows. */
function server(series?: Series) {
  const found = async () => described(folder.path, 'sbcl-1', { socket });
  // A status that comes late on a busy machine says that the image does not react.
  const times = { ...TIMES, status: 60_000 };
  const options = { find: found, attachLine: '(load "attach.lisp")', limitMs: 60_000, times, series };
  const image = new AttachedImage(options);
  images.push(image);
  return { image, ...toolCaller(image, folder.path) };
}
afterEach(async () => {
  for (const image of images.splice(0)) await image.end();
});

const HOLD = { on_error: 'hold' };
/** Returns the number of the error that TEXT says is held. */
const numberIn = (text: string) => Number(/error[: ]+(\d+)/i.exec(text)?.[1]);

test('each server has the series of ids and errors that it asks for, in the same image', async () => {
  const ids: number[] = [];
  for (const index of [0, 1, 2]) {
    const { text, eval: evaluate } = server({ count: 3, index });
    const inspected = await text('inspect', { value: '*features*' });
    const id = Number(/@(\d+)/.exec(inspected)?.[1]);
    expect(await text('inspect', { value: `@${id}` })).toBe(inspected);
    const error = numberIn(await evaluate('(error "held")', HOLD));
    expect(await text('debug', { error: error + 1 })).toContain('there was no error with that number');
    expect(await text('debug', { error, end: true })).toContain('Ended error');
    expect([id % 3, error % 3]).toEqual([(index + 1) % 3, (index + 1) % 3]);
    ids.push(id);
  }
  expect(new Set(ids).size).toBe(3);
});

test('an error that one server holds is listed for another, which cannot use or end it', async () => {
  const [one, other] = [server(), server()];
  const held = numberIn(await one.eval('(+ 1 (restart-case (error "of one") (use-value (x) x)))', HOLD));
  const whose = `process ${process.pid}`;
  expect(await other.text('debug', {})).toBe(
    `This session holds no error. A call with on_error: "hold" holds its error.\n\nHeld by other servers of this image (only those can use or end them):\n  ${held}: COMMON-LISP::SIMPLE-ERROR, held by ${whose} until 60 s pass without a use`,
  );
  const refused = `Error ${held} is held by another server of this image, ${whose}, and only that one can use or end it. This session holds no error. To hold an error here, make the call with on_error: "hold".`;
  for (const how of [{ end: true }, { restart: '0' }, { eval: '1' }, { return: '1' }, {}])
    expect(await other.text('debug', { error: held, ...how })).toBe(refused);
  expect(await one.text('debug', { error: held, restart: 'use-value', values: ['41'] })).toContain('42');
  expect(await other.text('debug', { error: held })).toMatch(
    /is not held: another server of this image held it/,
  );
  expect(await other.eval('(+ 1 2)')).toBe('3');
});

test('each server can hold as many errors as if it were alone', async () => {
  const [one, other] = [server(), server()];
  for (let n = 0; n < 10; n++) await one.eval('(error "held")', HOLD);
  expect(await one.eval('(error "held")', HOLD)).toContain('10 errors are held already');
  const held = numberIn(await other.eval('(error "held")', HOLD));
  expect(await other.text('debug', { error: held, end: true })).toContain('Ended error');
  await one.image.end();
  const none = async () => !(await other.text('debug', {})).includes('Held by');
  await until('the end of what the first held', 60_000, none);
});

test('an id of another session is refused, and both can have ids of one object', async () => {
  const [one, other] = [server(), server()];
  await one.eval('(defvar *shared* (list (make-hash-table) (make-hash-table)))');
  const ids = /@\d+/g;
  const [first] = (await one.text('inspect', { value: '*shared*' })).match(ids) ?? [];
  expect(await other.text('inspect', { value: String(first) })).toBe(
    `${first} is not an id of this session: it comes from another server of the image, or from a connection that was lost. To get an id here, show the object with eval_form or inspect.`,
  );
  expect((await other.text('inspect', { value: '*shared*' })).match(ids)?.[0]).toBe(first);
  for (const { text } of [one, other])
    expect(await text('inspect', { value: String(first) })).toContain('2 parts');
});

test('the last error, and what threads write, are those of the session', async () => {
  const [one, other] = [server(), server()];
  await one.eval('(error "only of one")');
  await one.eval(
    '(sb-thread:join-thread (sb-thread:make-thread (lambda () (sleep 0.2) (print "from its thread"))) :timeout 0.01 :default nil)',
  );
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(await other.text('get_last_error', {})).not.toContain('only of one');
  expect((await other.call('eval_form', { form: '1' })).notices?.join()).not.toContain('from its thread');
  expect(await one.text('get_last_error', {})).toContain('only of one');
});

test('a server cannot interrupt a call of another, whatever number it gives', async () => {
  const [one, other] = [server(), server()];
  const running = one.eval('(progn (sleep 1.5) :done)');
  await until('its start', 60_000, () => one.image.jobs.list()[0]?.phase.kind === 'running');
  const phase = one.image.jobs.list()[0]?.phase;
  const id = phase?.kind === 'running' ? phase.id : 0;
  await other.eval('1');
  const ask = (form: string) => other.eval(`(live-lisp.jobs::${form})`);
  expect(await ask(`session-job ${id}`)).toBe('NIL');
  expect(await ask(`operation/interrupt :job ${id} :reason "test"`)).toContain('T');
  expect(await ask(`operation/terminate :job ${id}`)).toContain('T');
  expect(await running).toBe(':DONE');
});

test('watches of two servers record apart, and end with their server', async () => {
  const [one, other, third] = [server(), server(), server()];
  await one.text('debug', { watch: 'all', type: 'division-by-zero' });
  await other.text('debug', { watch: 'all', type: 'parse-error' });
  const fail =
    '(list (handler-case (/ 1 (eval 0)) (error () 1)) (handler-case (parse-integer "x") (error () 2)))';
  expect(await third.eval(fail)).toBe('(1 2)');
  expect(await one.text('get_last_error', { watched: true })).toContain('DIVISION-BY-ZERO');
  expect(await other.text('get_last_error', { watched: true })).not.toContain('DIVISION-BY-ZERO');
  expect(await other.text('debug', { unwatch: true })).toContain('1 was seen');
  one.image.close();
  const none = async () => (await third.eval('(length live-lisp.debug::**watches**)')) === '1';
  await until('the end of the watch', 60_000, none);
  expect(await third.eval('(live-lisp.debug::watches-in-effect)')).toBe('NIL');
});

test('a thread of the program that a server holds goes on when the server has gone', async () => {
  const [one, other] = [server(), server()];
  await one.text('debug', { watch: 'all', type: 'parse-error', hold: true });
  await other.eval('(setf *go* t)');
  await until('the held error', 60_000, async () => (await other.text('debug', {})).includes('Held by'));
  expect(await other.eval('*went*')).toBe('NIL');
  one.image.close();
  await until('that it goes on', 60_000, async () => (await other.eval('*went*')) === 'T');
  expect(await other.text('debug', {})).toBe(
    'This session holds no error. A call with on_error: "hold" holds its error.',
  );
});

test('calls that run for other servers are in the status, and cannot be ended here', async () => {
  const [one, other] = [server(), server()];
  await other.eval('1');
  expect(await other.text('image_status')).toContain('The Lisp image is ready, and no call runs.\n');
  const goOn = one.eval('(progn (princ "from one") (loop until (boundp (quote *ends*)) do (sleep 0.01)) 7)');
  await until('its start', 60_000, async () => (await other.text('image_status')).includes('from one'));
  const status = await other.text('image_status');
  expect(status).toContain('The Lisp image is ready, and no call of this server runs.\n');
  expect(status.replace(/\(\d+\.\d s\)/, '(N)')).toContain(
    `\n\nCalls of other servers of this image (only those can end them):\n  eval_form (N), by process ${process.pid}\n     8 characters of output, last line: from one`,
  );
  expect(await one.text('image_status')).not.toContain('Calls of other servers');
  await other.eval('(defvar *ends* t)');
  expect(await goOn).toContain('7');
  await until('its end', 60_000, async () => !(await other.text('image_status')).includes('Calls of other'));
});
