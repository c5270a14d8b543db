// The contract's registry of tools as code in the image uses it, through a client.

import { beforeAll, describe, expect, test } from 'vitest';
import { BUILT_IN } from '../names.ts';
import { sharedFolder, sharedSession } from '../shared.ts';

const root = sharedFolder();
const session = sharedSession({ args: ['--root', root.path] });
beforeAll(async () => {
  root.put('notes.txt', 'one\n');
  await session.eval(`(in-package :live-lisp-user)
    (defun table (&rest pairs)
      (let ((table (make-hash-table :test 'equal)))
        (loop for (key value) on pairs by #'cddr do (setf (gethash key table) value))
        table))
    (defun run (name &rest pairs) (funcall (tool-handler (get-tool name)) (apply #'table pairs)))
    (setf *print-pretty* nil)`);
});

const EIGHTEEN =
  'describe_symbol apropos_search function_arglist who_calls who_references list_package_symbols class_slots class_hierarchy macroexpand_form eval_form compile_form get_last_error get_repl_history read_file read_buffer search_in_buffer write_file propose_file_edit'.split(
    ' ',
  );

/** Returns the text of what FORM signals. */
async function refusal(form: string): Promise<string> {
  return session.eval(
    `(handler-case ${form} (invalid-tool (e) (write-string (princ-to-string e)) (values)))`,
  );
}

describe('the registry', () => {
  test('S2.20 S4.14 C5 has the eighteen from the start, in the order of the server', async () => {
    expect(await session.eval('(format nil "~{~A~^ ~}" (list-registered-tools))')).toBe(
      `"${EIGHTEEN.join(' ')}"`,
    );
    expect(await session.eval('(list (register-agent-q-tools) (register-agent-q-tools))')).toBe('(18 18)');
    expect(await session.eval('(hash-table-test *agent-q-registry*)')).toBe('EQUAL');
  });

  test('S4.14 get-tool finds exact names, else NIL', async () => {
    expect(await session.eval('(list (get-tool "describe_symbol") (get-tool "nope") (get-tool :x))')).toBe(
      '(#<TOOL describe_symbol> NIL NIL)',
    );
  });

  test('S2.20 the seven accessors tell of a built-in tool what the server does', async () => {
    const form = `(let ((tool (get-tool "who_calls")))
      (list (tool-name tool) (first (tool-parameters tool)) (tool-required tool) (tool-safety-level tool)
            (tool-categories tool) (functionp (tool-handler tool)) (subseq (tool-description tool) 0 18)))`;
    expect(await session.eval(form)).toBe(
      '("who_calls" (:NAME "name" :TYPE :STRING :DESCRIPTION "Function name to find callers of") ("name") :SAFE (:INTROSPECTION :XREF) T "Find all functions")',
    );
  });

  test('S4.14 C4 get-agent-q-tools filters by level and categories', async () => {
    const count = (filter: string) => `(length (get-agent-q-tools ${filter}))`;
    const filters = [
      '',
      ':max-safety-level :safe',
      ':max-safety-level :cautious',
      ':max-safety-level :dangerous',
      ":categories '(:introspection)",
      ":categories '(:xref :diff)",
      ":max-safety-level :safe :categories '(:introspection)",
      ':categories nil',
    ];
    expect(await session.eval(`(list ${filters.map(count).join(' ')})`)).toBe('(18 13 16 18 9 3 8 18)');
    expect(await session.eval('(get-agent-q-tools :max-safety-level :harmless)')).toMatch(
      /^Error: Unknown safety level :HARMLESS; valid are :SAFE, :CAUTIOUS, :DANGEROUS\.\n/,
    );
  });

  test('S4.14 S2.13 tools-to-schema gives the property lists of the contract', async () => {
    expect(
      await session.eval(
        '(first (tools-to-schema (list (get-tool "describe_symbol") (get-tool "who_calls"))))',
      ),
    ).toMatch(
      /^\(:TYPE "function" :FUNCTION \(:NAME "describe_symbol" :DESCRIPTION "Show what a Lisp symbol is.*" :PARAMETERS \(:TYPE "object" :PROPERTIES \(:SYMBOL \(:TYPE "string" :DESCRIPTION ".*"\) :PACKAGE \(:TYPE "string" :DESCRIPTION ""\) :ARGUMENTS \(:TYPE "array" .*\) :LIMIT \(:TYPE "integer" .*\) :OFFSET \(:TYPE "integer" .*\)\) :REQUIRED \("symbol"\)\)\)\)$/,
    );
    const array = `(define-tool "x" "X." '((:name "aList" :type :array :items :string) (:name "n" :type :integer :description "N" :minimum 1)) :handler 'list)`;
    expect(
      await session.eval(`(getf (getf (getf (tool-to-schema ${array}) :function) :parameters) :properties)`),
    ).toBe(
      '(:|aList| (:TYPE "array" :DESCRIPTION "" :ITEMS (:TYPE "string")) :N (:TYPE "integer" :DESCRIPTION "N" :MINIMUM 1))',
    );
  });
});

describe('the handlers of the built-in tools', () => {
  test.each([
    ['describe_symbol', '"symbol" "car"', 'COMMON-LISP::CAR [FUNCTION]'],
    ['eval_form', '"form" "(* 6 7)"', '42'],
    ['get_repl_history', '"limit" 1', ''],
    ['read_file', '"path" "notes.txt"', 'one'],
  ])('S2.20 %s gives the text that a model reads', async (name, args, part) => {
    const { text, isError } = await session.call('eval_form', { form: `(run "${name}" ${args})` });
    expect([isError, text]).toEqual([false, expect.stringContaining(part)]);
  });

  test('S2.20 C20 a dangerous one refuses, which is an error of the code', async () => {
    const text = await session.eval(
      '(handler-case (run "write_file" "path" "a.txt" "content" "x") (tool-error (e) (tool-error-message e)))',
    );
    expect(text).toMatch(/^"Tool \w+ is dangerous and needs a human's approval, which code cannot request\./);
  });

  test('S2.20 S2.18 wrong arguments are an error with the text of the contract', async () => {
    const caught = (form: string) =>
      session.eval(`(handler-case ${form} (tool-error (e) (tool-error-message e)))`);
    expect(await caught('(run "describe_symbol")')).toBe(`"Required parameter 'symbol' missing"`);
    expect(await caught(`(funcall (tool-handler (get-tool "eval_form")) '(:form "1"))`)).toBe(
      '"It takes one EQUAL hash table with the arguments by name, not a value of type COMMON-LISP::CONS."',
    );
    expect(await caught('(funcall (tool-handler (get-tool "eval_form")) (make-hash-table))')).toBe(
      `"Required parameter 'form' missing"`,
    );
  });
});

describe('what is not valid', () => {
  const REGISTER = '(register-tool *agent-q-registry* ';
  const define = (name: string, rest: string) => `(define-tool ${name} ${rest})`;
  const OK = `"X." '() :handler 'list`;
  test.each([
    [
      define('"with-hyphen"', OK),
      'Tool "with-hyphen" must have a name in snake_case: a lower-case letter, then a to z, 0 to 9 and _.',
    ],
    [
      define("'sym", OK),
      'Tool LIVE-LISP-USER::SYM must have a name in snake_case: a lower-case letter, then a to z, 0 to 9 and _.',
    ],
    [define('"x"', `"" '() :handler 'list`), 'Tool "x" must have a description.'],
    [
      define('"x"', `"X." '() :handler nil`),
      'Tool "x" must have a handler: a function of one hash table, or the symbol that names one.',
    ],
    [define('"x"', `"X." 5 :handler 'list`), 'Tool "x" must have a list of parameters.'],
    [
      define('"x"', `${OK} :safety-level :harmless`),
      'Tool "x" has the safety level :HARMLESS; valid are :SAFE, :CAUTIOUS, :DANGEROUS.',
    ],
    [define('"x"', `${OK} :categories :xref`), 'Tool "x" must have a list of keywords as categories.'],
    [define('"x"', `${OK} :required '("y")`), `Tool "x" requires 'y', which is not one of its parameters.`],
    [define('"x"', `${OK} :required '(y)`), 'Tool "x" must have a list of the names of required parameters.'],
    [
      define('"x"', `"X." '((:type :string)) :handler 'list`),
      'Tool "x" has a parameter without a name; a parameter is a list such as (:name "symbol" :type :string :description "...").',
    ],
    [
      define('"x"', `"X." '((:name "a" :type :text)) :handler 'list`),
      `Tool "x" has a parameter 'a' of type :TEXT; valid are :STRING, :BOOLEAN, :NUMBER, :INTEGER, :OBJECT, :ARRAY.`,
    ],
    [
      define('"x"', `"X." '((:name "a" :type :string) (:name "a" :type :string)) :handler 'list`),
      `Tool "x" has two parameters named 'a'.`,
    ],
    [
      define('"x"', `"X." '((:name "a" :type :string :description 5)) :handler 'list`),
      `Tool "x" has a parameter 'a' whose description is no string.`,
    ],
    [
      define('"x"', `"X." '((:name "a" :type :array :items :text)) :handler 'list`),
      `Tool "x" has a parameter 'a' whose items have no type; valid are :STRING, :BOOLEAN, :NUMBER, :INTEGER, :OBJECT, :ARRAY.`,
    ],
    [
      define('"x"', `"X." '((:name "a" :type :string :required t)) :handler 'list`),
      `Tool "x" has a parameter 'a' with :REQUIRED; a parameter can have :NAME, :TYPE, :DESCRIPTION, :ENUM, :DEFAULT, :ITEMS, :MINIMUM, :MAXIMUM.`,
    ],
    [`${REGISTER} 5)`, "Tool 5 is no tool; DEFINE-TOOL and (make-instance 'live-lisp:tool ...) make tools."],
    [
      `(register-tool (make-hash-table) (define-tool "x" ${OK}))`,
      'Tool "x" can be registered only in an EQUAL hash table, such as *AGENT-Q-REGISTRY*.',
    ],
    [
      `${REGISTER} (define-tool "x" (make-string 10000 :initial-element #\\a) '() :handler 'list))`,
      'Tool "x" has a definition of 10096 characters as JSON; the limit is 10000. Shorten its texts.',
    ],
    [
      `${REGISTER} (define-tool (make-string 51 :initial-element #\\a) ${OK}))`,
      `Tool "${'a'.repeat(51)}" has a name of 51 characters; the limit is 50.`,
    ],
    [
      `${REGISTER} (define-tool "x" "X." '((:name "a" :type :string :enum (1 2))) :handler 'list))`,
      `Tool "x" has a parameter 'a' with a wrong enum, which must be a list of strings.`,
    ],
    [
      `${REGISTER} (define-tool "x" "X." '((:name "a" :type :number :minimum "1")) :handler 'list))`,
      `Tool "x" has a parameter 'a' with a wrong minimum, which must be a number.`,
    ],
    [
      `${REGISTER} (define-tool "x" "X." '((:name "a" :type :array :default (1 2))) :handler 'list))`,
      `Tool "x" has a parameter 'a' with a wrong default, which must be a string, a number or T.`,
    ],
  ])('S2.20 S4.14 %s says what is wrong', async (form, text) => {
    expect(await refusal(form)).toContain(`Output:\n${text}`);
    expect(await session.eval('(get-tool "x")')).toBe('NIL');
  });

  test('S2.20 nothing of it reached the client', async () => {
    const names = (await session.client.listTools()).tools.map(({ name }) => name);
    expect(names.sort()).toEqual(BUILT_IN.map(([name]) => name).sort());
  });
});

test('S4.14 a registry of their own is no business of the client', async () => {
  const form = `(let ((mine (make-hash-table :test 'equal)))
    (register-tool mine (define-tool "mine" "Mine." '() :handler 'list))
    (list (gethash "mine" mine) (get-tool "mine")))`;
  expect(await session.eval(form)).toBe('(#<TOOL mine> NIL)');
  const bound = `(let ((*agent-q-registry* (make-hash-table :test 'equal)))
    (register-tool *agent-q-registry* (define-tool "mine" "Mine." '() :handler 'list))
    (list (get-tool "mine") (list-registered-tools)))`;
  expect(await session.eval(bound)).toBe('(#<TOOL mine> ("mine"))');
  expect((await session.client.listTools()).tools.map(({ name }) => name)).not.toContain('mine');
});
