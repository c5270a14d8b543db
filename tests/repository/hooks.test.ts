// Code of the backend that runs within calls of the program goes through lisp/base/hooks.lisp: functions of SBCL call
// it by DEFINE-HOOK, and what it does besides it does APART.

import { expect, test } from 'vitest';
import { filesOf, textOf } from './files.ts';
import { codeOf, definitions } from './lisp.ts';

const files = filesOf('lisp', 'lisp');

/** Who wraps a function besides: a tool wraps functions of the program for a while when it is asked to, and a core that
 *  is being saved is no image yet. */
const WRAPPERS = [
  'base/hooks',
  'base/probes',
  'base/wrapping',
  'base/sbcl-system',
  'tests/frameworks',
  'main',
];

/** What keeps conditions from the program too late: those that are no errors have been signalled to it by then. */
const TOO_LATE = /\((?:ignore-errors|handler-case|handler-bind)\b/;

const hooked = files.flatMap((path) =>
  [...textOf(path).matchAll(/^\(define-hook (?:\([^)]*\)|\S+) ([a-z-]+)\)$/gm)].map(
    ([, listener = '']) => listener,
  ),
);

const listeners = files.flatMap((path) =>
  definitions(textOf(path))
    .filter(({ text }) => /^\(defun \S+ \([^)]*\)\n {2}"Hook: /.test(text))
    .map(({ text }) => ({ path, text, name: /^\(defun (\S+)/.exec(text)?.[1] ?? '' })),
);

test('only DEFINE-HOOK makes functions of SBCL call the backend', () => {
  const others = files.filter((path) => !WRAPPERS.some((name) => path === `lisp/${name}.lisp`));
  expect(others.filter((path) => /\((?:un)?encapsulate /.test(codeOf(textOf(path))))).toEqual([]);
});

test('each function that a hook calls is a listener by its docstring, and each listener has a hook', () => {
  const named = new Set(listeners.map(({ name }) => name));
  expect([...new Set(hooked)].filter((name) => !named.has(name))).toEqual([]);
  expect([...named].filter((name) => !hooked.includes(name))).toEqual([]);
});

test('no listener handles conditions by itself: what can signal one is evaluated APART', () => {
  expect(listeners.filter(({ text }) => TOO_LATE.test(codeOf(text))).map(({ name }) => name)).toEqual([]);
});
