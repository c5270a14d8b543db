// The tool macroexpand_form, which expands macros in a form.

import type { Image } from '../../image/image.ts';
import type { Reply } from '../../image/wire/call.ts';
import type { MacroexpandData } from '../../image/wire/operations.ts';
import { joinSections } from '../../kernel/reply.ts';
import { type ArgumentsFor, defineTool, type Result, type ToolDescription } from '../../kernel/tool.ts';
import { callOptions, limitOption, TIMEOUT } from '../calling.ts';
import { outputSection, waitedNote } from '../endings.ts';
import { failureText, isMissing } from '../execution/evaluation-text.ts';
import { lookupResult, PACKAGE, packageOf } from '../lookup.ts';
import type { Places } from '../places.ts';
import { readtableSection, redefinedSection, warningSection } from '../remarks.ts';

const MACROEXPAND_FORM = {
  name: 'macroexpand_form',
  description:
    'Expand a macro form such as loop: see what code it turns into. To check code use compile_form. Mode one expands once, full until it is not a macro form, all also expands the forms inside. The macros run, their expansion does not.',
  parameters: [
    { name: 'form', type: 'string' },
    PACKAGE,
    {
      name: 'mode',
      type: 'string',
      enum: ['one', 'full', 'all'],
      default: 'full',
    },
    TIMEOUT,
  ],
  required: ['form'],
  limitMs: Number.POSITIVE_INFINITY,
  safetyLevel: 'cautious',
  categories: ['introspection'],
  shortDescription: 'Expand a macro form: one step, fully, or with all forms inside',
  complexity: 'simple',
  keywords: [
    'macroexpand-1',
    'macro expansion',
    'macroexpand-all',
    'macroexpand',
    'expand a macro',
    'what does this macro expand into',
    'code that a macro generates or produces',
    'debug a macro',
  ],
} as const satisfies ToolDescription;

export function macroexpandFormTool(image: Image, places: Places) {
  return defineTool({
    ...MACROEXPAND_FORM,
    handler: async (args, context) => {
      const reply = await image.call(
        'macroexpand',
        { code: args.form, ...packageOf(args), mode: args.mode },
        { ...callOptions(context), ...limitOption(args) },
      );
      return expansionResult(reply, args, places);
    },
  });
}

function expansionResult(
  { ending, output, data, waitedMs }: Reply<'macroexpand'>,
  { form, mode }: ArgumentsFor<typeof MACROEXPAND_FORM>,
  places: Places,
): Result {
  if (data.value !== undefined) return { ...lookupResult(data.value), failed: true };
  const failure = refusal(data) ?? failureText(ending, unreadableOf(data), { code: form, places });
  const text = joinSections([
    failure ?? expansionText(data, mode),
    outputSection(output),
    warningSection(data, places),
    redefinedSection(data),
    readtableSection(data),
  ]);
  const { expansion, expanded } = data;
  return {
    data: { expansion: expansion?.text, expanded, ending, output },
    text,
    failed: failure !== undefined,
    unfound: isMissing(ending, unreadableOf(data)),
    ...waitedNote(waitedMs),
  };
}

/** Returns the reason why there is no expansion; undefined when the reason is a Lisp error. */
function refusal({ unreadable, withoutWalker }: MacroexpandData): string | undefined {
  if (withoutWalker) {
    return 'Error: mode all needs the code walker of the contrib sb-cltl2, which this SBCL lacks. Expand the inner forms one by one, with mode full.';
  }
  if (unreadable === undefined || !('forms' in unreadable)) return undefined;
  return unreadable.forms === 0
    ? 'Error: there is no form to expand: the text contains only white space or comments.'
    : 'Error: there is text after the first form; nothing was expanded. Give one form per call.';
}

function unreadableOf({ unreadable }: MacroexpandData) {
  return unreadable === undefined || 'forms' in unreadable ? {} : { unreadable };
}

function expansionText({ expansion, expanded, operator }: MacroexpandData, mode: string): string {
  const text = `${expansion?.text}${expansion?.cut ? '\n[... cut here ...]' : ''}`;
  if (expanded) return text;
  if (mode === 'all') return `${text}\n\nNote: it contains no macro forms.`;
  const { name = '', place = 'function', natures = [] } = operator ?? {};
  const what = operator && !natures.includes('MACRO') ? ` ${operatorText(name, place, natures)}` : '';
  return `${text}\n\nNote: it is not a macro form.${what}`;
}

function operatorText(name: string, place: 'function' | 'variable', natures: string[]): string {
  const expected = place === 'variable' ? ['VARIABLE'] : ['FUNCTION', 'GENERIC-FUNCTION', 'SPECIAL OPERATOR'];
  const nature = natures.find((candidate) => expected.includes(candidate));
  if (nature !== undefined) return `${name} is a ${nature.toLowerCase()}.`;
  return `${name} is not defined as a ${place === 'variable' ? 'variable or symbol macro' : 'macro or function'}.`;
}
