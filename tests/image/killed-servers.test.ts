// Servers that are killed at random points of their work leave nothing of theirs in an image that somebody else runs.

import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { SERVER, temporaryFolder } from '../harness.ts';
import { LONG } from '../long.ts';
import { until } from '../server/processes.ts';
import { PERSON, type Person, personAt, REPL, startSbcl } from './attached-sbcl.ts';

/** What the person has loaded: a thread that works, and functions that signal. */
const WORK = `(progn
  (defun their-work (x) (handler-case (parse-integer x) (error () (1+ (length x)))))
  (defvar *worked* 0)
  (sb-thread:make-thread (lambda () (loop (their-work "x") (incf *worked*) (sleep 0.002))) :name "theirs"))`;

/** A form for what is in the image that servers can have left: threads of ours, jobs, held errors, watches, hooks of both,
 *  connections, and functions that signal and are not the person's any more. */
const LEFT = `(list
  (sort (remove-if-not (lambda (name) (search "live-lisp" name)) (mapcar #'sb-thread:thread-name (sb-thread:list-all-threads))) #'string<)
  (hash-table-count live-lisp.jobs::**jobs**) (length live-lisp.debug::**held**) (length live-lisp.debug::**watches**)
  (length live-lisp.base::**channels**)
  (and (sb-impl::encapsulation-info (sb-kernel:%coerce-name-to-fun 'their-work)) t)
  (mapcar (lambda (name before) (eq before (fdefinition name))) '(error signal warn cerror load) *functions*)
  (and (find "theirs" (sb-thread:list-all-threads) :key #'sb-thread:thread-name :test #'equal) t))`;

/** What LEFT is when only the listener is left. */
const NOTHING_LEFT = '(("live-lisp server") 0 0 0 0 NIL (T T T T T) T)';

/** Calls of tools, in some of which a server is killed. */
const CALLS: readonly [string, object][] = [
  ['eval_form', { form: '(loop (sleep 0.01))' }],
  ['eval_form', { form: '(unwind-protect (loop (sleep 0.01)) (sleep 0.05))' }],
  ['eval_form', { form: '(error "held")', on_error: 'hold' }],
  ['eval_form', { form: '(dotimes (i 1000) (make-list 10000))' }],
  ['eval_form', { form: '(sb-thread:join-thread (sb-thread:make-thread (lambda () (sleep 0.5))))' }],
  ['debug', { watch: 'all' }],
  ['debug', { watch: 'theirs', hold: true }],
  ['observe', { functions: ['their-work'], seconds: 60 }],
  ['load_file', { path: 'code.lisp' }],
  ['who_calls', { name: 'car' }],
];

interface Killed {
  /** What the image has at the end, as LEFT prints it. */
  left: string;
  /** How many servers had been greeted by the image when they were killed. */
  connected: number;
  /** What the person's image printed to its terminal. */
  printed: string;
  /** What the person's evaluations meanwhile returned, without duplicates. */
  values: string[];
}

/** Starts an image and COUNT servers for it, one after the other, each of which is killed at a random point of its calls,
 *  while the person evaluates and loads. Resolves with what is left after that. */
async function killServers(count: number): Promise<Killed> {
  const folder = temporaryFolder();
  chmodSync(folder.path, 0o700);
  writeFileSync(join(folder.path, 'code.lisp'), '(defun of-file (x) (* 2 x))\n(defclass of-file () (a b))\n');
  const options = { before: [PERSON, WORK], after: REPL, cwd: folder.path, silent: true };
  const { sbcl } = await startSbcl(folder.path, options);
  const person = personAt(sbcl);
  await person.say(`(defvar *functions* (mapcar #'fdefinition '(error signal warn cerror load)))`);
  const values = new Set<string>();
  let connected = 0;
  for (let round = 0; round < count; round++) {
    const server = startServer(folder.path, `sbcl-${sbcl.pid}`);
    // In half of the rounds the server has connected by then, and the point is one of its calls.
    const calls = Array.from({ length: 3 }, () => CALLS[Math.floor(Math.random() * CALLS.length)]);
    for (const [name, args] of calls.flatMap((call) => (call ? [call] : []))) server.call(name, args);
    if (round % 4 > 0) await until('its connection', 60_000, async () => (await channels(person)) > 0);
    await pause(Math.random() * (round % 4 > 0 ? 300 : 1000));
    values.add(await person.say('(handler-case (error "mine") (error () (load "code.lisp") (of-file 21)))'));
    connected += await channels(person);
    server.process.kill('SIGKILL');
  }
  let left = '';
  const isNothing = async () => {
    left = await person.say(LEFT);
    return left === NOTHING_LEFT;
  };
  await until('that nothing is left', 60_000, isNothing).catch(() => {});
  sbcl.kill('SIGKILL');
  folder.remove();
  return { left, connected, printed: person.printed(), values: [...values] };
}

async function channels(person: Person): Promise<number> {
  return Number(await person.say('(length live-lisp.base::**channels**)'));
}

/** Starts a server for the image NAME in FOLDER. It takes calls before it has answered the first. */
function startServer(
  folder: string,
  name: string,
): { process: ChildProcess; call: (tool: string, args: object) => void } {
  const child = spawn(process.execPath, [SERVER, '--root', folder, '--image', name], {
    env: { ...process.env, LIVE_LISP_SERVING: folder },
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  let id = 0;
  const send = (method: string, params: object, isNotice = false) =>
    child.stdin?.write(
      `${JSON.stringify({ jsonrpc: '2.0', ...(!isNotice && { id: id++ }), method, params })}\n`,
    );
  child.stdin?.on('error', () => {}); // It was killed.
  send('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'killed', version: '1' },
  });
  send('notifications/initialized', {}, true);
  return { process: child, call: (tool, args) => send('tools/call', { name: tool, arguments: args }) };
}

const COUNT = LONG ? 200 : 4;

test(`${COUNT} servers are killed at random points, and only the listener is left`, async () => {
  const { left, connected, printed, values } = await killServers(COUNT);
  expect(left).toBe(NOTHING_LEFT);
  expect(connected).toBeGreaterThanOrEqual(COUNT / 2);
  expect(values).toEqual(['42']);
  expect(printed).not.toContain('DEBUGGER');
});
