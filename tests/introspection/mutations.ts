// A generated program of functions and calls, the same with other lambda lists, and what SBCL warns about then.

import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { testSbcl } from '../harness.ts';

export interface GeneratedFunction {
  name: string;
  /** How many required and optional arguments it has, and which keywords. */
  required: number;
  optional: number;
  keys: string[];
  rest: boolean;
}

const KEYS = ['alpha', 'beta', 'gamma'];

/** Returns the function NUMBER, at random. */
export function generatedFunction(number: number, random: (bound: number) => number): GeneratedFunction {
  const keyed = random(3) === 0;
  return {
    name: `callee-${number}`,
    required: random(4),
    optional: keyed ? 0 : random(2),
    keys: keyed ? KEYS.filter(() => random(2) === 0).map((key) => `${key}-${number}`) : [],
    rest: !keyed && random(8) === 0,
  };
}

/** Returns the lambda list of EACH. */
export function lambdaListText({ required, optional, keys, rest }: GeneratedFunction): string {
  const names = (count: number, letter: string) => Array.from({ length: count }, (_, i) => `${letter}${i}`);
  return `(${[
    ...names(required, 'a'),
    ...(optional > 0 ? ['&optional', ...names(optional, 'o')] : []),
    ...(rest ? ['&rest', 'more'] : []),
    ...(keys.length > 0 ? ['&key', ...keys] : []),
  ].join(' ')})`;
}

/** Returns definitions of FUNCTIONS. */
export function definitions(functions: readonly GeneratedFunction[]): string {
  const define = (each: GeneratedFunction) =>
    `(defun ${each.name} ${lambdaListText(each)}\n  (list ${Array.from({ length: each.required }, (_, i) => `a${i}`).join(' ')}))\n`;
  return `(in-package :mutated)\n${functions.map(define).join('')}`;
}

/** Returns a form that calls EACH as it is, in one of many ways. */
function callForm(each: GeneratedFunction, random: (bound: number) => number): string {
  const { name } = each;
  const args = [
    ...Array.from(
      { length: each.required + random(each.optional + 1) },
      (_, i) => ['x', `${i}`, '"a"', '(1+ x)', "'q"][random(5)],
    ),
    ...each.keys.filter(() => random(2) === 0).flatMap((key) => [`:${key}`, 'x']),
  ].join(' ');
  const call = `(${name} ${args})`;
  const ways = [
    call,
    call,
    call,
    `(let ((y ${call})) (list y x))`,
    `(when x (print ${call}))`,
    `(loop for i below 3 collect ${call})`,
    `(funcall #'${name} ${args})`,
    `(passing ${call})`,
    `(making (x) ${call})`,
    `(mapcar (lambda (x) ${call}) x)`,
    `(apply #'${name} x)`,
    `(mapcar #'${name} x)`,
    `(list '(${name} 1 2 3 4 5 6 7) ${call})`,
    `(let ((${name} 1)) (list ${name} ${call}))`,
    `(case x (${name} 1) (t ${call}))`,
    `(macrolet ((local (form) (list 'progn form))) (local ${call}))`,
    `(handler-case ${call} (error () nil))`,
    `(push ${call} *kept*)`,
    `(multiple-value-bind (y z) ${call} (list x y z))`,
    `(destructuring-bind (y &optional z) (list ${call}) (list y z x))`,
  ];
  return ways[random(ways.length)] ?? call;
}

/** Returns COUNT callers, each with calls of different FUNCTIONS, as functions, methods and other definitions. */
export function callers(
  functions: readonly GeneratedFunction[],
  count: number,
  random: (bound: number) => number,
): string {
  const lines = [
    '(in-package :mutated)',
    '(defvar *kept* nil)',
    '(defmacro passing (form) form)',
    '(defmacro making ((name) &body body) `(let ((,name (or ,name 1))) ,@body))',
    '(defgeneric described (x n))',
  ];
  for (let i = 0; i < count; i++) {
    const chosen = new Set(Array.from({ length: 1 + random(3) }, () => functions[random(functions.length)]));
    const body = [...chosen].map((each) => `  ${each && callForm(each, random)}`).join('\n');
    const definers = [
      `(defun caller-${i} (x)\n${body})`,
      `(defun caller-${i} (x)\n${body})`,
      `(defmethod described ((x t) (n (eql ${i})))\n${body})`,
      `(defvar *value-${i}* (lambda (x)\n${body}))`,
      `(defclass class-${i} () ((slot :initform (let ((x *kept*))\n${body}))))`,
      `(when *kept*\n  (let ((x *kept*))\n${body}))`,
      `(defmacro macro-${i} (x)\n${body})`,
    ];
    lines.push(definers[random(definers.length)] ?? '');
  }
  return `${lines.join('\n')}\n`;
}

/** Returns EACH with another lambda list. */
export function mutated(each: GeneratedFunction, random: (bound: number) => number): GeneratedFunction {
  const changes: GeneratedFunction[] = [
    { ...each, required: each.required + 1 },
    { ...each, required: Math.max(0, each.required - 1) },
    { ...each, optional: each.keys.length > 0 ? 0 : each.optional + 1 },
    { ...each, keys: each.keys.slice(1) },
    {
      ...each,
      keys: each.rest ? [] : [...new Set([...each.keys, `delta-${each.name.slice('callee-'.length)}`])],
      optional: 0,
    },
    { ...each, keys: [], optional: 0, rest: false },
  ];
  return changes[random(changes.length)] ?? each;
}

const COLLECT = `
(setf *invoke-debugger-hook* (lambda (c h) (declare (ignore h)) (format t "FAILED ~A~%" c) (sb-ext:exit :code 1 :abort t)))
(defun collected (file load)
  (handler-bind
      ((warning (lambda (condition)
                  (let* ((context (sb-c::find-error-context nil)) (text (remove #\\Newline (princ-to-string condition))))
                    (when (and context (or (search "is called with" text) (search "keyword" text) (search "wants" text)))
                      (format t "WARNED ~A ~A ~A~%" (file-namestring file) (sb-c::compiler-error-context-file-position context) text)))
                  (muffle-warning condition))))
    (let ((fasl (compile-file file :output-file (format nil "~A.collected" file))))
      (when load (load fasl)))))
`;

/** Returns how a fresh SBCL warns about arguments when it compiles FILES of FOLDER in order: a line for each warning. It
 *  also loads the first LOADED of them. */
export function warnedBySbcl(folder: string, files: readonly string[], loaded = files.length): string[] {
  const script = join(folder, 'collect.lisp');
  writeFileSync(
    script,
    `${COLLECT}${files.map((file, index) => `(collected ${JSON.stringify(join(folder, file))} ${index < loaded ? 't' : 'nil'})`).join('\n')}\n`,
  );
  const output = execFileSync(
    testSbcl(),
    ['--noinform', '--no-userinit', '--no-sysinit', '--load', script, '--quit'],
    {
      encoding: 'utf8',
      maxBuffer: 100_000_000,
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  );
  return output.split('\n').filter((line) => line.startsWith('WARNED') || line.startsWith('FAILED'));
}
