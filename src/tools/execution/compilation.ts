// Defines the tool compile_form, which compiles forms and does not run them.

import { join } from 'node:path';
import type { Image } from '../../image/image.ts';
import type { Reply } from '../../image/wire/call.ts';
import type { CompileData } from '../../image/wire/operations.ts';
import type { EarlierAnswers } from '../../kernel/earlier-answers.ts';
import { joinSections } from '../../kernel/reply.ts';
import { defineTool, type Result, type ToolDescription } from '../../kernel/tool.ts';
import { withTemporaryFolder } from '../../temporary-folder.ts';
import { callOptions, limitOption, TIMEOUT } from '../calling.ts';
import { holdingSection } from '../debug/held-text.ts';
import { errorOptions, type HeldToolCalls, heldResultOr, ON_ERROR } from '../debug/hold.ts';
import { outputSection, waitedNote } from '../endings.ts';
import { lookupResult, PACKAGE, packageOf } from '../lookup.ts';
import type { Places } from '../places.ts';
import { readtableSection, warningsAndNotes } from '../remarks.ts';
import { failureText, isMissing } from './evaluation-text.ts';

const COMPILE_FORM = {
  name: 'compile_form',
  description:
    'Check code, such as a defun, without running it: compile Lisp forms and report errors, warnings, undefined names, unused variables and compiler notes. To check a file use load_file. Definitions are undone; effects of macros, #. and EVAL-WHEN stay.',
  parameters: [{ name: 'form', type: 'string' }, PACKAGE, ON_ERROR, TIMEOUT],
  required: ['form'],
  limitMs: Number.POSITIVE_INFINITY,
  safetyLevel: 'cautious',
  categories: ['execution'],
  shortDescription: 'Compile Lisp forms without running them: errors, warnings, undefined names, notes',
  complexity: 'simple',
  keywords: [
    'syntax check',
    'lint a snippet',
    'type check',
    'optimization notes',
    'compile a form',
    'does it compile',
    'compiler warnings of a snippet',
    'check code without running it',
  ],
} as const satisfies ToolDescription;

export function compileFormTool(image: Image, { places, holds }: { places: Places; holds: HeldToolCalls }) {
  return defineTool({
    ...COMPILE_FORM,
    handler: (args, context) =>
      withTemporaryFolder(async (folder, keep) => {
        const file = join(folder, 'form.lisp');
        const request = { code: args.form, file, ...packageOf(args), ...errorOptions(args, holds) };
        const reply = await image.call('compile-forms', request, {
          ...callOptions(context),
          ...limitOption(args),
        });
        return heldResultOr(
          reply,
          { name: 'compile-forms', args: request, holds, places, keep },
          (finalReply) => compilationResult(finalReply, args.form, places, context.earlierAnswers),
        );
      }),
  });
}

function compilationResult(
  { ending, output, data, waitedMs }: Reply<'compile-forms'>,
  code: string,
  places: Places,
  earlierAnswers: EarlierAnswers | undefined,
): Result {
  if (data.value !== undefined) return { ...lookupResult(data.value), failed: true };
  const failure = failureText(ending, data, { code, places, done: 'compiled' });
  const text = joinSections([
    failure ?? headline(data, earlierAnswers),
    holdingSection(data),
    outputSection(output),
    warningsAndNotes(data),
    readtableSection(data),
  ]);
  // The forms were in a temporary file. Members that refer to this file are left out.
  const warnings = (data.warnings ?? []).map(({ file, offset, start, ...warning }) => warning);
  return {
    data: { forms: data.forms ?? 0, warnings, warningCount: data.warningCount ?? 0, ending, output },
    text,
    failed: failure !== undefined,
    unfound: isMissing(ending, data),
    ...waitedNote(waitedMs, 'forms are compiled one call at a time'),
  };
}

/** Returns sentences about the result of the compilation. One of them names the parts of the code that were executed,
 * unless an earlier answer contains it. */
function headline(
  { forms = 0, warnings = [] }: CompileData,
  earlierAnswers: EarlierAnswers | undefined,
): string {
  if (forms === 0) return 'No form to compile: the text holds only white space or comments.';
  const has = (...severities: string[]) => warnings.some(({ severity }) => severities.includes(severity));
  const outcome = has('error')
    ? 'with errors (below): running that code signals them'
    : has('warning', 'undefined', 'style-warning')
      ? 'with warnings'
      : has('note')
        ? 'with notes'
        : 'without warnings';
  const what = forms === 1 ? 'the form' : `${forms} forms`;
  const ran = earlierAnswers?.repeats('what compile_form runs')
    ? ''
    : ' The compiled code was not run. Compile-time code (EVAL-WHEN, macros, #.) did run, and its effects stay; definitions made only for compiling were undone.';
  return `Compiled ${what} ${outcome}.${ran}`;
}
