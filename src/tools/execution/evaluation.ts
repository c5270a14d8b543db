// Decides the tool that evaluates.

import type { Image } from '../../image/image.ts';
import type { Reply } from '../../image/wire/call.ts';
import type { PrintedValue } from '../../image/wire/data.ts';
import type { Ending } from '../../image/wire/endings.ts';
import type { EvaluateData } from '../../image/wire/operations.ts';
import { joinSections } from '../../kernel/reply.ts';
import {
  defineTool,
  keywordList,
  type Parameter,
  type Result,
  type ToolDefinition,
} from '../../kernel/tool.ts';
import type { ReplHistory } from '../../records/repl-history.ts';
import { callOptions, limitOption, stringArgument, TIMEOUT, timeoutAdvice } from '../arguments.ts';
import { conditionText, endingText, lookupResult, outputSection, waitedSection } from '../outcome.ts';
import { readtableSection, redefinedSection, warningSection } from '../remarks.ts';
import { evaluationOf } from './history.ts';

const PARAMETERS: readonly Parameter[] = [
  { name: 'form', type: 'string', description: 'Lisp form to evaluate, or several' },
  {
    name: 'package',
    type: 'string',
    description: 'Package to evaluate in (defaults to the current package, CL-USER at the start)',
  },
  TIMEOUT,
];

const EVAL_FORM: Omit<ToolDefinition, 'handler'> = {
  name: 'eval_form',
  title: 'Evaluate Lisp',
  description:
    'Evaluate Lisp forms in the running image, one after the other. Returns all values as printed by ~S, output, warnings with their form, or the condition with its restarts and frames. Definitions, *package* and * ** *** last between calls.',
  parameters: PARAMETERS,
  required: ['form'],
  limitMs: Number.POSITIVE_INFINITY,
  safetyLevel: 'cautious',
  categories: ['execution'],
  shortDescription: 'Evaluate Lisp forms in the running image: values, output, warnings, conditions',
  complexity: 'simple',
  keywords: keywordList(`
    evaluate, execute code, REPL, run an expression, call a function, define a function, test a function,
    backtrace and restarts, eval, interactive console, shell prompt, jshell, irb, python -c, node -e,
    console.log, playground, scratch, code snippet, one-liner, immediate window, watch window, notebook cell,
    compute, calculate, arithmetic, add multiply divide numbers, factorial fibonacci, power of, modulo mod, try
    out, try something, play with, experiment, quick check whether, is it true, assert, assertion, invoke a
    function with arguments, see what it returns, which values does it return, what comes back, result of an
    expression, redefine on the fly, monkeypatch, monkey patch, always return, override, reproduce a bug,
    reproduce an error, fails when I call it, run it and show the stack trace, stack trace for a call, debug a
    function, exception, trace a function, untrace, step through, time a call, how long does it take, faster or
    slower, measure, profile a function, benchmark, timing, memory usage, garbage collect, disassemble, machine
    code, print a value, toString, princ format, what is inside a variable, contents of a hash table, count
    entries, inspect an object, current value of a variable, set or change a global variable, set a field, debug
    optimization, declaim, in-package, switch package, current package, make an instance, create an object, new
    object, sample data, query live state at runtime, interrupt, timeout, long computation, defun defmacro
    defclass setf, let progn, run the unit tests, run my test, run tests, does the regex match, C-x C-e, C-c
    C-c, C-M-x, M-:, Alt+F8, Alt+Enter, ghci, pry, ielm, sbcl --eval, ruby -e, perl -e, timeit, console.time,
    stopwatch, print hello world, println, eval-last-sexp, slime-eval-last-expression, slime-eval-defun,
    slime-eval-region, C-c C-r, C-c C-p, C-j, what does it print, smoke test, sanity check, sample call, setq
    defparameter, random number, format string, convert a number, square root, start the web server, connect to
    the database from the image, stop a thread, list threads, live program, current state of the program, room,
    what is the value, run the function, run this code, execute this, do a calculation, sum of a list, what
    happens if I call, check that it returns, verify the behaviour, edge case, inspect the object in, dump an
    object, print all keys, value of an expression, memory footprint, heap size, lisp version,
    lisp-implementation-version, all-threads, kill a thread, stop the running server, restart the server, insert
    a row via the repl, query via the repl, turn on, turn off, turn tracing on, switch to another package,
    define a variable, define a class, define a method, define a helper, add a method, patch in memory,
    fmakunbound, makunbound, remove-method, unintern, create a hash table, test data, mock, stub out, simulate,
    how many seconds, statistical profiler, sb-sprof, cProfile, CPU time, consing, allocation, handler-case,
    invoke a restart, assembly, sbcl --script, iex, Chrome console, DevTools, debug console, scratch file, quick
    evaluate, execute the test suite, how many are in, biggest key, is it true that, runtime value, live object,
    put in the repl, give me the length of, does the new function work, see if it works, in hexadecimal, binary
    octal, create an instance of, how slow, find out how slow, runtime type of an object, type-of class-of, try
    dividing by zero, what the debugger offers, is the list sorted, evaluate selection, remove entries from a
    cache, log level at runtime, math, performance, crash it, run some lisp, open a REPL, execute this
    expression, check a value, run a line of code, run a form, evaluate a form, evaluate Lisp code, what does my
    function return, assign a value, raise an error, use the REPL, show the result, call stack for a form,
    measure the time, average of a list, make an object and call a method`),
  alwaysLoad: true,
};

/** Returns the tool that evaluates in IMAGE and keeps what it evaluated in HISTORY. */
export function evalForm(image: Image, history: ReplHistory) {
  return defineTool({
    ...EVAL_FORM,
    handler: async (args, context) => {
      const packageName = stringArgument(args, 'package');
      const code = String(args['form']);
      const began = performance.now();
      const reply = await image.call(
        'evaluate',
        { code, ...(packageName && { package: packageName }) },
        { ...callOptions(context), ...limitOption(args['timeout']) },
      );
      if (reply.data.value !== undefined) return { ...lookupResult(reply.data.value), failed: true };
      const milliseconds = performance.now() - began;
      return evaluationResult(reply, (seen) =>
        history.add(
          evaluationOf(
            { form: code, ...(packageName && { package: packageName }), ...seen },
            reply,
            milliseconds,
          ),
        ),
      );
    },
  });
}

/** Makes the result of an evaluation. KEEP is told its values and why it failed, and returns what to say of that. */
function evaluationResult(
  { ending, output, data, waitedMs }: Reply<'evaluate'>,
  keep: (seen: { values?: string; error?: string }) => string | undefined,
): Result {
  const failed = ending.kind !== 'done' || data.unreadable !== undefined;
  const error = failureText(ending, data);
  const values = valuesText(data, failed);
  const text = joinSections([
    error,
    values,
    outputSection(output),
    warningSection(data),
    redefinedSection(data),
    readtableSection(data),
    waitedSection(waitedMs),
    keep({ ...(values !== undefined && { values }), ...(error !== undefined && { error }) }),
  ]);
  return { data: { values: data.values ?? [], ending, output }, text, failed };
}

/** Returns the text for an evaluation that did not end well, or undefined for one that did. DONE is what became of
 *  the forms before. */
export function failureText(
  ending: Ending,
  { unreadable, formNumber = 1 }: Pick<EvaluateData, 'unreadable' | 'formNumber'>,
  done: 'evaluated' | 'compiled' = 'evaluated',
): string | undefined {
  if (unreadable) {
    const { text, number, line, column, atLine, atColumn } = unreadable;
    return (
      `Error: form ${number} cannot be read: ${text}\n` +
      `It begins at line ${line}, column ${column}; reading stopped at line ${atLine}, column ${atColumn}. ` +
      doneBefore(number, done) +
      (/Package (ASDF|UIOP) does not exist/.test(text)
        ? ' ASDF is not loaded yet: load_system loads it, and so does (require :asdf).'
        : '')
    );
  }
  if (ending.kind === 'done') return undefined;
  if (ending.kind !== 'condition')
    return `Error: ${joinSections([endingText(ending), timeoutAdvice(ending)])}`;
  return conditionText(ending.condition, formNumber > 1 ? `form ${formNumber}` : undefined);
}

function valueText({ text = '', cut, length, omitted }: PrintedValue): string {
  if (omitted !== undefined) return `[... ${omitted} more ${omitted === 1 ? 'value' : 'values'} ...]`;
  if (cut) return `${text}\n[... cut here ...]`;
  return length === undefined
    ? text
    : `${text}\n[... it has ${length} elements; *print-length* limits what is shown ...]`;
}

function doneBefore(number: number, done: string): string {
  if (number === 1) return `Nothing was ${done}.`;
  return number === 2 ? `Form 1 was ${done}.` : `Forms 1 to ${number - 1} were ${done}.`;
}

/** One form: its values, one a line, so that `(+ 1 2)` gives `3`. Several: the values of each behind its number. */
function valuesText({ values = [] }: EvaluateData, failed: boolean): string | undefined {
  const shown = values.map((list) => list.map(valueText));
  if (shown.length === 0)
    return failed ? undefined : 'No form to evaluate: the text holds only white space or comments.';
  const [only] = shown;
  if (shown.length === 1 && only && !failed) return only.length === 0 ? '; No values' : only.join('\n');
  const lines = shown.map(
    (list, index) => `[${index + 1}] ${list.length === 0 ? '; No values' : list.join('\n    ')}`,
  );
  return failed ? `Values of the forms before:\n${lines.join('\n')}` : lines.join('\n');
}
