// How long a question stays open, and that it is answered at most once.

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { OpenQuestion } from '../../src/kernel/approval.ts';
import { OpenQuestions } from '../../src/kernel/questions.ts';
import { shown } from '../../src/kernel/shown.ts';
import { probe } from '../contracts/tools.ts';

const CLOSED = /^This approval was used already, expired, or was asked for before the server started/;

const question = (place: string): OpenQuestion => ({
  tool: probe().tool,
  args: {},
  preview: shown({ text: `at ${place}`, place, fingerprint: '' }),
  expired: () => void expired.push(place),
  late: '',
});
const expired: string[] = [];

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('S2.12 it is closed by its answer, and by one for another call', () => {
  const questions = new OpenQuestions(600);
  questions.add('1', question('a'), 'subject');
  questions.add('2', question('b'), 'subject');
  expect(questions.take('1', 'subject').preview.place).toBe('a');
  expect(() => questions.take('1', 'subject')).toThrow(CLOSED);
  expect(() => questions.take('2', 'other')).toThrow(/^This approval was for another call/);
  expect(() => questions.take('2', 'subject')).toThrow(CLOSED);
});

test('S2.12 it is open for its time, to the millisecond', () => {
  const questions = new OpenQuestions(0.9);
  questions.add('1', question('a'), 'subject');
  questions.add('2', question('a'), 'subject');
  vi.advanceTimersByTime(899);
  expect(questions.take('1', 'subject').preview.place).toBe('a');
  vi.advanceTimersByTime(1);
  expect(() => questions.take('2', 'subject')).toThrow(CLOSED);
  expect(questions.about('a')).toEqual([]);
});

test('C29 one that is not answered in time is recorded as that, once; so is one whose arguments are not', () => {
  const closed: string[] = [];
  const questions = new OpenQuestions(0.9);
  expired.splice(0);
  for (const id of ['1', '2', '3']) questions.add(id, question(id), 'subject', () => void closed.push(id));
  questions.take('1', 'subject');
  questions.change('4', questions.take('2', 'subject'), 'subject');
  vi.advanceTimersByTime(900);
  questions.expire('3');
  expect([expired, closed]).toEqual([
    ['3', '2'],
    ['1', '2', '3'],
  ]);
  expect(vi.getTimerCount()).toBe(0);
});

test('of more than a hundred, the oldest are closed', () => {
  const questions = new OpenQuestions(600);
  for (let id = 0; id < 101; id += 1) questions.add(String(id), question(`${id % 2}`), 'subject');
  expect(questions.about('0').length + questions.about('1').length).toBe(100);
  expect(() => questions.take('0', 'subject')).toThrow(CLOSED);
  expect(questions.take('1', 'subject').preview.place).toBe('1');
});
