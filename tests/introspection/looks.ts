// A session with fixtures/looks.lisp loaded, for the tools that look at functions, variables, packages, classes
// and macros.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect } from 'vitest';
import { FIXTURES, type Session } from '../harness.ts';
import { noString } from '../said.ts';
import { sharedSession } from '../shared.ts';

const SOURCE = readFileSync(join(FIXTURES, 'looks.lisp'), 'utf8').split('\n');

/** Returns a session with the fixture, for the tests of a file. */
export function sharedLooks(): Session {
  const session = sharedSession();
  beforeAll(async () => {
    expect(await session.text('load_file', { path: 'fixtures/looks.lisp' })).toBe(
      'Loaded fixtures/looks.lisp',
    );
  });
  return session;
}

/** Evaluates FORM, which must work and can take long, in SESSION. */
export async function prepare(session: Session, form: string): Promise<void> {
  const { text, isError } = await session.call('eval_form', { form, timeout: 600 });
  expect(isError, text).toBe(false);
}

/** Returns the line that sites:true shows for the place of TEXT in the line of the fixture that contains WITHIN. */
export function place(within: string, text: string): string {
  const index = SOURCE.findIndex((line) => line.includes(within));
  const line = SOURCE[index] ?? '';
  return `    fixtures/looks.lisp:${index + 1}:${line.indexOf(text) + 1}  ${line.trim()}`;
}

/** What every tool that looks a name up answers when that is not there, and when it is no string (C8, C9). */
export async function expectLookup(session: Session, tool: string, parameter: string): Promise<void> {
  const answer = (text: string, isError = false) => ({ text, notices: [], isError });
  const call = (name: unknown, more: object = {}) => session.call(tool, { [parameter]: name, ...more });
  expect(await call('nonexistent')).toEqual(
    answer('Symbol NONEXISTENT not found in package CL-USER (status: NIL)'),
  );
  expect(await call('|nope|', { package: 'lks' })).toEqual(
    answer('Symbol nope not found in package lks (status: NIL)'),
  );
  expect(await call('looks::nope', { package: 'CL' })).toEqual(
    answer('Symbol NOPE not found in package looks (status: NIL)'),
  );
  expect(await call('car', { package: 'No Where' })).toEqual(answer('Package No Where not found'));
  expect(await call('cl:car', { package: 'No Where' })).toEqual(answer('Package No Where not found'));
  expect(await session.call(tool, { package: 'CL' })).toEqual(
    answer(`Required parameter '${parameter}' missing`, true),
  );
  expect(await call(5)).toEqual(answer(noString(parameter), true));
}
