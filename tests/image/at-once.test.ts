// Two agents and a person who change the same at once, in one image of the person. Through real clients.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Session, startSession, temporaryFolder } from '../harness.ts';
import { until } from '../server/processes.ts';
import { PERSON, type Person, personAt, REPL, startSbcl } from './attached-sbcl.ts';
import { servingPlace } from './served.ts';

const place = servingPlace();
const root = temporaryFolder();
const sessions: Session[] = [];
let person: Person;
let end: () => Promise<void>;

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

const [one, other] = [() => sessions[0] as Session, () => sessions[1] as Session];
const text = () => readFileSync(join(root.path, 'shop.lisp'), 'utf8');

// Both can be told that they renamed, when the second server checks the file just before the first one replaces it.
test('two renames at once leave the file of one of them, whole', async () => {
  await one().call('load_file', { path: 'shop.lisp' });
  const answers = await Promise.all([
    one().call('rename_symbol', { name: 'shop::price', to: 'cost' }),
    other().call('rename_symbol', { name: 'shop::price', to: 'worth' }),
  ]);
  const renamed = answers.map((answer) => /^Renamed SHOP::PRICE to (\w+): 3 places/.exec(answer.text)?.[1]);
  const done = renamed.flatMap((name) => name?.toLowerCase() ?? []);
  expect(done.map((name) => CODE.replaceAll(/(?<=[( '])price(?= )/g, name))).toContain(text());
  expect(await one().eval(`(list (fboundp 'shop::price) (shop::twice '(:price 4)))`)).toBe('(NIL 8)');
});

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

// The loads of the two servers are not in the order of their writes, so the image can have the other text until a load.
test('two agents who edit one definition at once leave one of the two texts in the file, and a load puts it into the image', async () => {
  const edited = (session: Session, value: number) =>
    session.call('edit_definitions', {
      edits: [{ definition: 'shop::twice', text: `(defun twice (item) item ${value})` }],
      load: true,
    });
  const answers = await Promise.all([edited(one(), 1), edited(other(), 2)]);
  const inFile = /\(defun twice \(item\) item (\d)\)/.exec(text())?.[1];
  expect(answers[Number(inFile) - 1]?.isError).toBe(false);
  expect(await person.say('(shop::twice 0)')).toMatch(/^[12]$/);
  await one().call('load_file', { path: 'shop.lisp' });
  expect(await person.say('(shop::twice 0)')).toBe(inFile);
});
