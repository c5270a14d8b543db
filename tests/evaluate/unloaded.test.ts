// What an answer says besides when it found nothing: that nothing of the workspace is loaded, or which package is current.

import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Session, startSession } from '../harness.ts';
import { sharedFolder } from '../shared.ts';

const folder = sharedFolder();

const write = folder.put;

const ASD = `; (defsystem "commented")
(asdf:defsystem "tally" :components ((:file "tally")))
(defsystem #:Tally/Tests :depends-on ("tally"))
`;
const LISP = '(defpackage :tally (:use :cl))\n(in-package :tally)\n(defun balance () 1)\n';
write('project/tally.asd', ASD);
write('project/tally.lisp', LISP);
write('project/src/other.lisp', '(defun other () 1)\n');
write('above/one/one.asd', '(defsystem :one)\n');
write('above/two/two.asd', '(defsystem "two")\n');
write('plain/plain.lisp', '(defun plain () 1)\n');

const SYSTEMS =
  'Note: nothing of this workspace is loaded; it has the systems tally, tally/tests: load_system loads one.';

function inWorkspace(root: string): { session: Session } {
  const held: { session: Session } = {} as { session: Session };
  beforeAll(async () => {
    held.session = await startSession({ args: ['--root', join(folder.path, root)] });
  });
  afterAll(() => held.session.close());
  return held;
}

describe('in a workspace with an .asd file', () => {
  const held = inWorkspace('project');

  test.each([
    ['apropos_search', { pattern: 'balance' }, /^Found 0 symbols matching 'balance':/],
    ['describe_symbol', { symbol: 'car', names: ['tally:balance'] }, /^Package tally not found$/im],
    ['who_calls', { name: 'tally:balance' }, /^Package tally not found$/i],
    ['eval_form', { form: '(no-such-function)' }, /^Error: The function COMMON-LISP-USER::NO-SUCH-FUNCTION/],
    ['compile_form', { form: '(tally:balance)' }, /^Error: form 1 cannot be read: .*TALLY/],
    ['load_system', { system: 'tallly' }, /^System tallly not found by ASDF\./],
  ])('%s of %j says which systems there are', async (tool, args, text) => {
    const answer = await held.session.call(tool, args);
    expect(answer.text).toMatch(text);
    expect(answer.notices).toEqual([SYSTEMS]);
  });

  test('a variable that has no users is not there for want of a load', async () => {
    await held.session.eval('(defvar *lonely* 1)');
    const { notices } = await held.session.call('who_references', { name: '*lonely*' });
    expect(notices).toEqual([SYSTEMS]);
  });

  test('an error of another kind says nothing of that', async () => {
    const form = '(error "A failure of its own")';
    expect((await held.session.call('eval_form', { form })).notices).toEqual([]);
  });

  test('no answer says it once a file of it is loaded', async () => {
    await held.session.call('load_file', { path: 'tally.lisp' });
    const { text, notices } = await held.session.call('apropos_search', { pattern: 'no-such-name' });
    expect(text).toBe("Found 0 symbols matching 'no-such-name':\n\n");
    expect(notices).toEqual([]);
  });
});

describe('in another folder', () => {
  const source = inWorkspace('project/src');
  const above = inWorkspace('above');
  const plain = inWorkspace('plain');

  test('below the project, the workspace and the file are named', async () => {
    const project = join(folder.path, 'project');
    expect((await source.session.call('run_tests', {})).notices).toEqual([
      `Note: the workspace ${project}/src has no .asd file, and ${project}/tally.asd is one folder up. Start the client in ${project}, or the server with --root ${project}.`,
    ]);
  });

  test('above projects, the folders of these are named', async () => {
    expect((await above.session.call('describe_symbol', { symbol: 'one:two' })).notices).toEqual([
      'Note: nothing of this workspace is loaded; its folders one, two have the systems one, two: load_system loads one.',
    ]);
  });

  test('without any .asd file nearby, nothing is said', async () => {
    const { notices } = await plain.session.call('describe_symbol', { symbol: 'one:two' });
    expect(notices).toEqual([]);
  });
});

describe('a name that is not there', () => {
  const held = inWorkspace('plain');
  const NOTE =
    "Note: names without a package are read in the current package, TALLY-TWO. All callers of this image share that package, including sub-agents of a client; parameter 'package' sets another for one call.";

  test('is said to be read in the current package, unless the call names one or that is CL-USER', async () => {
    const notices = async (args: object) => (await held.session.call('eval_form', { ...args })).notices;
    expect(await notices({ form: '(defvar *shared* 1) *not-shared*' })).toEqual([]);
    await held.session.eval('(defpackage "TALLY-TWO" (:use "CL")) (in-package "TALLY-TWO")');
    expect(await notices({ form: '*shared*' })).toEqual([NOTE]);
    expect(await notices({ form: '(no-such-function)' })).toEqual([NOTE]);
    expect(await notices({ form: '(no-such:name)' })).toEqual([NOTE]);
    expect(await notices({ form: '*not-shared*', package: 'cl-user' })).toEqual([]);
    expect(await notices({ form: '(car 1)' })).toEqual([]);
  });
});
