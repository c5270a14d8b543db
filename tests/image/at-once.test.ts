// Two agents and a person who change the same at once, in one image of the person. Through real clients.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AttachedImage } from '../../src/image/attached/attached-image.ts';
import { TIMES } from '../../src/image/wire/times.ts';
import { ChangeTurns } from '../../src/tools/changing.ts';
import { type Session, startSession, temporaryFolder } from '../harness.ts';
import { LONG } from '../long.ts';
import { until } from '../server/processes.ts';
import { PERSON, type Person, personAt, REPL, startSbcl } from './attached-sbcl.ts';
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
    await until('its end', 10_000, () => sbcl.signalCode !== null);
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
  `SHOP::${name.toUpperCase()} names nothing and stands in no file, so there is nothing to rename. Another call may have renamed it; apropos_search finds names by a part of them.`,
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

test('what the person redefines is told before the agent edits it, and the edit is of the file', async () => {
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
  // The other agent did not do it, so it is told, too.
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

/** Returns what decides when changes run in a further server of the image, which waits 100 ms for another one. */
function furtherServer(): { image: AttachedImage; turns: ChangeTurns } {
  const name = `sbcl-${pid}`;
  const image = new AttachedImage({
    find: async () => described(place.path, name, { pid }),
    line: '',
    limitMs: 60_000,
  });
  return { image, turns: new ChangeTurns(image, { ...TIMES, turn: 100 }) };
}

test('a server that does not end its change is named to the others, and its end lets them go on', async () => {
  const [hung, waiting] = [furtherServer(), furtherServer()];
  await hung.image.call('take-turn', {});
  const change = () => waiting.turns.within({}, async () => 'done');
  await expect(change()).rejects.toThrow(
    new RegExp(
      `^Another server of this image \\(process ${process.pid}\\) has been changing files and loading them for \\d+ s, so nothing was done\\. Call again later\\. If it hangs, ask the user to end it: kill ${process.pid}\\.$`,
    ),
  );
  hung.image.close();
  await until('the turn', 10_000, () =>
    change().then(
      (value) => value === 'done',
      () => false,
    ),
  );
  waiting.image.close();
});
