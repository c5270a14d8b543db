// Two agents and a person who change the same at once, in one image of the person. Through real clients.

import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { AttachedImage } from '../../src/image/attached/attached-image.ts';
import { type BackendConnection, socketConnection } from '../../src/image/attached/attached-peer.ts';
import { isStopped } from '../../src/image/process/process-state.ts';
import type { Served } from '../../src/image/wire/served.ts';
import { TIMES } from '../../src/image/wire/times.ts';
import { ChangeTurns } from '../../src/tools/changing.ts';
import { type Session, startSession, temporaryFolder } from '../harness.ts';
import { LONG } from '../long.ts';
import { until } from '../server/processes.ts';
import { PERSON, type Person, personAt, REPL, startSbcl, toolCaller } from './attached-sbcl.ts';
import { described, servingPlace } from './served.ts';

const ROUNDS = Array.from({ length: LONG ? 30 : 3 }, (_, round) => round);

const place = servingPlace();
const root = temporaryFolder();
const sessions: Session[] = [];
let person: Person;
let end: () => Promise<void>;
let pid: number;

const CODE = `(defpackage "SHOP" (:use "CL"))
(in-package "SHOP")
(defun price (item) (getf item :price))
(defun total (items) (reduce #'+ (mapcar #'price items)))
(defun twice (item) (* 2 (price item)))
`;

beforeAll(async () => {
  root.put('shop.lisp', CODE);
  const { sbcl } = await startSbcl(place.path, {
    before: [PERSON],
    after: REPL,
    cwd: root.path,
    silent: true,
  });
  person = personAt(sbcl);
  pid = sbcl.pid ?? -1;
  end = async () => {
    sbcl.kill('SIGKILL');
    await until('its end', 60_000, () => sbcl.signalCode !== null);
  };
  for (const _ of [1, 2]) {
    const allow = ['rename_symbol', 'edit_definitions'].flatMap((tool) => ['--allow', tool]);
    sessions.push(
      await startSession({ args: ['--root', root.path, ...allow], env: { LIVE_LISP_SERVING: place.path } }),
    );
  }
});
afterAll(async () => {
  for (const session of sessions) await session.close();
  await end();
  place.remove();
  root.remove();
});

const CHANGED = 'The files changed while these edits were prepared; nothing was written. Call again.';
/** Returns the errors of a rename of NAME, which another server has renamed before or after this one was planned. */
const refusals = (name: string) => [
  `SHOP::${name.toUpperCase()} is undefined and occurs in no file, so there is nothing to rename. Another call may have renamed it; apropos_search finds names by substring.`,
  'The files changed while this rename was prepared; nothing was written. Call again.',
];

const [one, other] = [() => sessions[0] as Session, () => sessions[1] as Session];
const text = () => readFileSync(join(root.path, 'shop.lisp'), 'utf8');

test.each(ROUNDS)(
  'of two renames at once one is done, and the other says why it is not (%i)',
  async (round) => {
    const [old, cost, worth] = [`price${round}`, `cost${round}`, `worth${round}`];
    const named = (name: string) => CODE.replaceAll(/(?<=[( '])price(?= )/g, name);
    root.put('shop.lisp', named(old));
    await one().call('load_file', { path: 'shop.lisp' });
    const answers = await Promise.all([
      one().call('rename_symbol', { name: `shop::${old}`, to: cost }),
      other().call('rename_symbol', { name: `shop::${old}`, to: worth }),
    ]);
    const [first, second] = answers[0].isError ? [worth, cost] : [cost, worth];
    const [done, refused] = answers[0].isError ? answers.toReversed() : answers;
    expect(done?.text).toMatch(new RegExp(`^Renamed SHOP::${old} to ${first}: 3 places`, 'i'));
    expect(refused?.isError).toBe(true);
    expect(refusals(old)).toContain(refused?.text);
    expect(text()).toBe(named(first));
    const bound = [old, first, second].map((name) => `(fboundp 'shop::${name})`).join(' ');
    expect(await person.say(`(list (shop::twice '(:price 4)) (mapcar #'not (list ${bound})))`)).toBe(
      '(8 (T NIL T))',
    );
  },
);

test('what the person redefines is told before the backend edits it, and the edit is of the file', async () => {
  const read = (session: Session) => session.call('read_definition', { names: ['shop::total'] });
  await read(one());
  await person.say('(eval (read-from-string "(defun shop::total (items) (length items))"))');
  const before = text();
  const { notices } = await read(one());
  expect(notices).toEqual([
    'Changed in this image since the last answer, by its user or another agent: SHOP::TOTAL.',
  ]);
  const edit = { definition: 'shop::total', text: "(defun total (items) (reduce #'+ items))" };
  const { isError } = await one().call('edit_definitions', { edits: [edit], load: true });
  expect(isError).toBe(false);
  expect(text()).toBe(before.replace(/^\(defun total.*$/m, edit.text));
  expect(await person.say("(shop::total '(1 2 3))")).toBe('6');
  // The other backend did not do it, so it is told, too.
  expect((await read(other())).notices.join()).toContain('SHOP::TOTAL');
});

test.each(ROUNDS)(
  'two agents who edit one definition at once leave the same text in file and image (%i)',
  async (round) => {
    const edited = (session: Session, value: number) =>
      session.call('edit_definitions', {
        edits: [{ definition: 'shop::twice', text: `(defun twice (item) item ${value})` }],
        load: true,
      });
    const answers = await Promise.all([edited(one(), 2 * round), edited(other(), 2 * round + 1)]);
    const inFile = /\(defun twice \(item\) item (\d+)\)/.exec(text())?.[1];
    expect(answers[Number(inFile) % 2]?.isError).toBe(false);
    for (const { isError, text } of answers) if (isError) expect(text).toBe(CHANGED);
    expect(await person.say('(shop::twice 0)')).toBe(inFile);
  },
);

test('code that a change loads changes the same file, in the same turn', async () => {
  root.put('nested.lisp', '(in-package "SHOP")\n(defun inner () 1)\n(defparameter *outer* nil)\n');
  await one().call('load_file', { path: 'nested.lisp' });
  const edit = '(setf (gethash "definition" edit) "shop::inner" (gethash "text" edit) "(defun inner () 2)")';
  const call = '(live-lisp:call-tool "edit_definitions" :edits (list edit) :load t)';
  const outer = `(defparameter *outer* (let ((edit (make-hash-table :test 'equal))) ${edit} ${call}))`;
  const edits = [{ definition: 'shop::*outer*', text: outer }];
  expect((await one().call('edit_definitions', { edits, load: true })).isError).toBe(false);
  expect(readFileSync(join(root.path, 'nested.lisp'), 'utf8')).toBe(
    `(in-package "SHOP")\n(defun inner () 2)\n${outer}\n`,
  );
  expect(await person.say('(shop::inner)')).toBe('2');
  // The turn is free again.
  const next = [{ definition: 'shop::inner', text: '(defun inner () 3)' }];
  expect((await other().call('edit_definitions', { edits: next, load: true })).isError).toBe(false);
});

/** Returns what decides when changes run in a further server of the image, which waits TURN_MS for another one. With
 *  CONNECT, which opens its connections, the server takes the image for one of another machine. */
function furtherServer({
  turnMs = 60_000,
  connect,
}: {
  turnMs?: number;
  connect?: (served: Served) => BackendConnection;
} = {}): { image: AttachedImage; turns: ChangeTurns } {
  const name = `sbcl-${pid}`;
  const image = new AttachedImage({
    find: async () => described(place.path, name, { pid }),
    attachLine: '',
    limitMs: 60_000,
    isStopped,
    ...(connect && { connect }),
  });
  onTestFinished(() => image.close());
  return { image, turns: new ChangeTurns(image, { ...TIMES, turn: turnMs }) };
}

/** Resolves when IMAGE has the turn. The server before gives it back once its call is answered already. */
async function takeTurn(image: AttachedImage): Promise<void> {
  await until('the turn', 60_000, async () => {
    const { ending, data } = await image.call('take-turn', {});
    return ending.kind === 'done' && !data.value;
  });
}

const done = async () => 'done';

test.each([
  [false, `process ${process.pid}`, `end it on the machine of the image: kill ${process.pid}`],
  [true, `process ${process.pid} on ${hostname()}`, 'end that server'],
])(
  'a server that does not end its change is named to the others, and its end lets them go on (elsewhere: %s)',
  async (elsewhere, name, remedy) => {
    const connect = ({ socket }: Served) => socketConnection(socket);
    const [hung, waiting] = [furtherServer(elsewhere ? { connect } : {}), furtherServer({ turnMs: 100 })];
    await takeTurn(hung.image);
    const change = () => waiting.turns.within({}, done);
    const { message } = await change().then(expect.unreachable, (error: Error) => error);
    expect(message.replace(/\d+ s,/, 'N s,')).toBe(
      `Another server of this image (${name}) has been changing files and loading them for N s, so nothing was done. Call again later. If it hangs, ask the user to ${remedy}.`,
    );
    hung.image.close();
    await until('the turn', 60_000, () =>
      change().then(
        (value) => value === 'done',
        () => false,
      ),
    );
  },
);

const CANCELLED =
  /^Ended because the client cancelled it after a wait of \d+\.\d s; the call had not begun, so nothing was done\.$/;

test('a change that is cancelled while another of its server runs ends at once', async () => {
  const { turns } = furtherServer();
  let [end, isEnded] = [() => {}, false];
  const change = () => new Promise<void>((resolve) => (end = resolve));
  const first = turns.within({}, change).then(() => (isEnded = true));
  const cancelling = new AbortController();
  const second = turns.within({ signal: cancelling.signal }, done);
  const third = turns.within({}, done);
  cancelling.abort();
  await expect(second).rejects.toThrow(CANCELLED);
  expect(isEnded).toBe(false);
  await until('the end of the first', 60_000, () => {
    end();
    return isEnded;
  });
  await first;
  expect(await third).toBe('done');
});

test('a change that is cancelled while it waits for another server ends, and takes no turn', async () => {
  const [holding, waiting, third] = [furtherServer(), furtherServer(), furtherServer()];
  await takeTurn(holding.image);
  const cancelling = new AbortController();
  const change = waiting.turns.within({ signal: cancelling.signal }, done);
  cancelling.abort();
  await expect(change).rejects.toThrow(CANCELLED);
  await holding.image.call('give-turn', {});
  expect(await third.turns.within({}, done)).toBe('done');
});

test('a turn that ends while the image is stopped is given back when its process goes on', async () => {
  const [one, other] = [furtherServer(), furtherServer()];
  try {
    await one.turns.within({}, async () => {
      process.kill(pid, 'SIGSTOP');
      await until('the stop', 60_000, () => isStopped(pid));
    });
    const { text } = toolCaller(one.image, root.path);
    expect(await text('image_status', {})).toMatch(/the end of a change \(\d+\.\d s\)/);
  } finally {
    process.kill(pid, 'SIGCONT');
  }
  expect(await other.turns.within({}, done)).toBe('done');
});

test('the end of a change makes no new connection when the old one is lost', async () => {
  const streams: Duplex[] = [];
  const connect = ({ socket }: Served) => {
    const connection = socketConnection(socket);
    streams.push(connection.stream);
    return connection;
  };
  const { image, turns } = furtherServer({ connect });
  await turns.within({}, async () => {
    streams[0]?.destroy();
    await until('the loss', 60_000, () => !image.running);
  });
  // A connection would be made at once.
  await new Promise((resolve) => setImmediate(resolve));
  expect(streams.length).toBe(1);
});
