// How long a question stays open, and that it is answered at most once.

import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Editors } from '../../src/door/editors.ts';
import { CallError } from '../../src/errors.ts';
import type { OpenQuestion } from '../../src/kernel/approval.ts';
import { OpenQuestions, type PendingQuestion, pendingQuestion } from '../../src/kernel/questions.ts';
import { renderPreview } from '../../src/kernel/shown.ts';
import { Approvals, type Send } from '../../src/server/approvals.ts';
import { PreviewFiles } from '../../src/server/preview-files.ts';
import { probe } from '../contracts/tools.ts';
import { temporaryFolder } from '../harness.ts';

const folder = temporaryFolder();
afterAll(folder.remove);

const CLOSED = /^This approval was used already, expired, or was asked for before the server started/;

const question = (place: string): OpenQuestion => ({
  tool: probe().tool,
  args: {},
  preview: renderPreview({ text: `at ${place}`, place, fingerprint: '' }),
  allowsSession: true,
  recordRefusal: (authority, why) => void ended.push([place, authority, why]),
  timeoutText: 'too late',
});
const asked = (place: string, onClose = () => {}): PendingQuestion =>
  pendingQuestion(question(place), { pages: [], onClose });
const ended: string[][] = [];
beforeEach(() => void ended.splice(0));

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('S2.12 it is closed by its answer, and by one for another call', () => {
  const questions = new OpenQuestions(600);
  questions.add('1', asked('a'), 'subject');
  questions.add('2', asked('b'), 'subject');
  expect(questions.take('1', 'subject').preview.place).toBe('a');
  expect(() => questions.take('1', 'subject')).toThrow(CLOSED);
  const other =
    'This approval was for another call, so nothing was done. Call the tool again to ask for this one.';
  expect(() => questions.take('2', 'other')).toThrow(other);
  expect(ended).toEqual([['b', 'nobody', other]]);
  expect(() => questions.take('2', 'subject')).toThrow(CLOSED);
});

test('S2.12 it is open for its time, to the millisecond', () => {
  const questions = new OpenQuestions(0.9);
  questions.add('1', asked('a'), 'subject');
  questions.add('2', asked('a'), 'subject');
  vi.advanceTimersByTime(899);
  expect(questions.take('1', 'subject').preview.place).toBe('a');
  vi.advanceTimersByTime(1);
  expect(() => questions.take('2', 'subject')).toThrow(CLOSED);
  expect(questions.previewsAbout('a')).toEqual([]);
});

test('C29 one whose time is over waits no more, also where its timer is late; that is recorded', () => {
  const questions = new OpenQuestions(0.9);
  questions.add('1', asked('a'), 'subject');
  expect(questions.isOpen('1')).toBe(true);
  vi.setSystemTime(Date.now() + 900);
  expect(questions.isOpen('1')).toBe(false);
  expect(ended).toEqual([['a', 'timed out', 'too late']]);
});

test('C29 an answer by a client of the legacy era that comes too late is told as that, also where the timer is late', async () => {
  const files = new PreviewFiles(folder.path, 0.9);
  const editors = new Editors('/');
  const approvals = new Approvals({
    questions: new OpenQuestions(0.9),
    files,
    editors,
    allowsSessionApproval: true,
  });
  const send: Send = async () => {
    vi.setSystemTime(Date.now() + 900);
    return { action: 'accept', content: { decision: 'approve' } };
  };
  const size = { rows: 10, columns: 80 };
  const call = { name: 'probe', args: {}, signal: new AbortController().signal };
  const answered = approvals.askBySending(question('a'), call, { size, send });
  await expect(answered).rejects.toThrow(new CallError('too late'));
});

test.each([
  ['sooner than a person can waits for an editor', 499, 'approved'],
  ['after half a second is a denial', 500, 'denied'],
])('a question that the client declines %s', async (_, milliseconds, kind) => {
  const editors = new Editors('/');
  let id: unknown;
  const notify = (_method: string, params: { id?: unknown }) => {
    id = params.id;
  };
  editors.join({ name: 'Emacs', notify });
  const approvals = new Approvals({
    questions: new OpenQuestions(600),
    files: new PreviewFiles(folder.path, 600),
    editors,
    allowsSessionApproval: true,
  });
  const send: Send = async () => {
    vi.setSystemTime(Date.now() + milliseconds);
    return { action: 'decline' };
  };
  const onProgress = (message: string) => {
    expect(message).toBe('waits until the user approves or denies it in Emacs');
    expect(editors.answer(String(id), { kind: 'approved' }, 'Emacs').counts).toBe(true);
  };
  const call = { name: 'probe', args: {}, signal: new AbortController().signal, onProgress };
  const size = { rows: 10, columns: 80 };
  expect(await approvals.askBySending(question('a'), call, { size, send })).toMatchObject({
    kind,
  });
});

test('C29 one that is not answered in time is recorded as that, once; so is one that is opened again', () => {
  const closed: string[] = [];
  const questions = new OpenQuestions(0.9);
  for (const id of ['1', '2', '3'])
    questions.add(
      id,
      asked(id, () => void closed.push(id)),
      'subject',
    );
  questions.take('1', 'subject');
  questions.add('4', questions.take('2', 'subject'), 'subject');
  vi.advanceTimersByTime(900);
  questions.expire('3');
  expect(ended).toEqual([
    ['3', 'timed out', 'too late'],
    ['2', 'timed out', 'too late'],
  ]);
  // Who takes one closes it.
  expect(closed).toEqual(['3', '2']);
  expect(vi.getTimerCount()).toBe(0);
});

test('of more than a hundred, the oldest are closed', () => {
  const questions = new OpenQuestions(600);
  for (let id = 0; id < 101; id += 1) questions.add(String(id), asked(`${id % 2}`), 'subject');
  expect(questions.previewsAbout('0').length + questions.previewsAbout('1').length).toBe(100);
  expect(() => questions.take('0', 'subject')).toThrow(CLOSED);
  expect(ended).toEqual([
    [
      '0',
      'nobody',
      'Nobody answered before 100 newer questions came, so nothing was done. Call the tool again to ask anew.',
    ],
  ]);
  expect(questions.take('1', 'subject').preview.place).toBe('1');
  questions.endAll();
  expect(ended.length).toBe(100);
  expect(ended.at(-1)).toEqual([
    '0',
    'nobody',
    'Nobody answered before the server ended, so nothing was done.',
  ]);
});
