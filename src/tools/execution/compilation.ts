// Decides the tool that compiles forms without running them.

import { join } from 'node:path';
import type { Image } from '../../image/image.ts';
import type { Reply } from '../../image/wire/call.ts';
import type { CompileData } from '../../image/wire/operations.ts';
import { joinSections } from '../../kernel/reply.ts';
import { defineTool, keywordList, type Result, type ToolDefinition } from '../../kernel/tool.ts';
import { callOptions, limitOption, stringArgument, TIMEOUT } from '../arguments.ts';
import { lookupResult, outputSection, waitedSection } from '../outcome.ts';
import { readtableSection, warningSection } from '../remarks.ts';
import { withTemporaryFolder } from '../temporary.ts';
import { failureText } from './evaluation.ts';

const COMPILE_FORM: Omit<ToolDefinition, 'handler'> = {
  name: 'compile_form',
  title: 'Compile Lisp',
  description:
    'Compile Lisp forms without evaluating them, to see errors, warnings, undefined functions and variables, and notes of the compiler, each with the form it is about. Forms are compiled as in a file, so a macro counts for the forms after it; definitions that this needs are taken back, but not what an evaluation defines meanwhile. What compile-time code (EVAL-WHEN, macros, #.) does or loads stays, as do changes of packages that exist and the symbols that are read.',
  parameters: [
    { name: 'form', type: 'string', description: 'Lisp form to compile, or several' },
    {
      name: 'package',
      type: 'string',
      description: 'Package to read in (defaults to the current package, CL-USER at the start)',
    },
    TIMEOUT,
  ],
  required: ['form'],
  limitMs: Number.POSITIVE_INFINITY,
  safetyLevel: 'cautious',
  categories: ['execution'],
  shortDescription: 'Compile Lisp forms without running them: errors, warnings, undefined names, notes',
  complexity: 'simple',
  keywords: keywordList(`
    compile a form, does it compile, compiler warnings of a snippet, check code without running it, type check,
    lint a snippet, optimization notes, syntax check, undefined function or variable, compilation errors,
    without evaluating it, validate a definition, is my definition valid, verify a definition, before defining
    it, before it replaces the old one, not saved yet, code I am about to insert, piece of code, dry run,
    dry-run compile, without side effects, static analysis, type errors, type clash, type conflict, type
    mismatch, wrong number of arguments, unused variable, unused variables in a let, misspelled name,
    unreachable code, deleting unreachable code, style warnings of a definition, parens balanced, unbalanced
    parens, balanced parentheses, missing paren, efficiency notes, compiler notes, open-code, why is it slow,
    generic arithmetic, boxing, declare optimize speed, compiler diagnostics, tsc --noEmit, mypy, pyright,
    eslint, javac -Xlint, gcc -fsyntax-only, py_compile, cargo check, proofread, review generated code, will
    this work, failed to compile, slime-compile-defun, C-c C-c, rustc, clang -Wall, node --check, php -l, ruby
    -c, bash -n, perl -c, type-check an expression, does the compiler complain, what does the compiler say,
    compiler messages, compile only, compile this function, compile a defun, without loading, without executing,
    before I run it, before I save it, is this valid Lisp, is this code correct, will it compile, well-formed,
    type inference, inferred types, deleted code note, unable to optimize, could not inline, wrong type,
    undefined function in a snippet, compiler macros, check the syntax of code, check this code, find type
    errors in a function, would this compile, would it compile, any warnings if I define, is there a typo in
    this form, typo in this form, check the following definition, following code, check for mistakes,
    syntactically correct, is it ok syntactically, does SBCL complain, compile without executing, compile-only
    check, type-check my function, new version of a function, is my new version valid, before it replaces, hints
    of the optimizer, could not optimize, forced to do full call, full call to, note: doing signed word to
    integer coercion, deleting unused function, undefined variable warning, unused let variable, unused
    argument, constant condition, never reached, odd number of arguments, number of parens, close all parens,
    snippet compiles, code below, C-c M-c, flymake, flycheck, LSP diagnostics of unsaved code, IDE inspection,
    SonarLint, static check, look for warnings in a lambda, warnings in this code, are all variables used,
    variables used in this code, does the call match the arguments, find bugs without running, style warnings of
    a form, well formed defun, would the compiler accept, Inspect Code on a selection, code not in a file,
    faults in my code, fault, check my code`),
};

export function compileForm(image: Image) {
  return defineTool({
    ...COMPILE_FORM,
    handler: (args, context) =>
      withTemporaryFolder(async (folder) => {
        const packageName = stringArgument(args, 'package');
        const code = String(args['form']);
        const file = join(folder, 'form.lisp');
        const reply = await image.call(
          'compile-forms',
          { code, file, ...(packageName && { package: packageName }) },
          { ...callOptions(context), ...limitOption(args['timeout']) },
        );
        return compilationResult(reply);
      }),
  });
}

function compilationResult({ ending, output, data, waitedMs }: Reply<'compile-forms'>): Result {
  if (data.value !== undefined) return { ...lookupResult(data.value), failed: true };
  const failure = failureText(ending, data, 'compiled');
  const text = joinSections([
    failure ?? headline(data),
    outputSection(output),
    warningSection(data),
    readtableSection(data),
    waitedSection(waitedMs, 'forms are compiled one call at a time'),
  ]);
  // Those are of the file that stood for the forms.
  const warnings = (data.warnings ?? []).map(({ file, offset, ...warning }) => warning);
  return {
    data: { forms: data.forms ?? 0, warnings, warningCount: data.warningCount ?? 0, ending, output },
    text,
    failed: failure !== undefined,
  };
}

function headline({ forms = 0, warnings = [] }: CompileData): string {
  if (forms === 0) return 'No form to compile: the text holds only white space or comments.';
  const has = (...severities: string[]) => warnings.some(({ severity }) => severities.includes(severity));
  const found = has('error')
    ? 'with errors (below), which signal when the code runs'
    : has('warning', 'undefined', 'style-warning')
      ? 'with warnings'
      : has('note')
        ? 'with notes'
        : 'without warnings';
  const what = forms === 1 ? 'the form' : `${forms} forms`;
  return `Compiled ${what} ${found}. Nothing of that was run. Definitions that compiling needs were taken back; what compile-time code (EVAL-WHEN, macros, #.) did or loaded stays.`;
}
