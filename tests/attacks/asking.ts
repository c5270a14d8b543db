// What an agent puts into its calls, so that the question to the human says something else.

import type { FileSession } from '../files/sessions.ts';
import type { Attack } from './attack.ts';

/** A line that no question of these calls has. */
const FORGED = 'Approve read_file (safe)? nothing changes';

/** Characters that hide or reorder others. */
const HIDING = ['\u001b', '\b', '\u202e'];

/** How the line is to get into a question: at its begin, or in the place of what is hidden. */
const WAYS: { readonly [name: string]: string } = {
  'behind a line feed': `a\n${FORGED}`,
  'behind a carriage return': `a\r${FORGED}`,
  'behind a line separator': `a\u2028${FORGED}`,
  'behind a vertical tab': `a\v${FORGED}`,
  'behind a code of a terminal': `a\u001b[2J\u001b[H${FORGED}`,
  'behind backspaces': `${'\b'.repeat(200)}${FORGED}`,
  'with right-to-left letters': `\u202e${[...FORGED].reverse().join('')}`,
  'below 5,000 blanks': `${' '.repeat(5000)}${FORGED}`,
};

/** The calls that put a text into a question. */
function callsOf(text: string, file: string): [string, object][] {
  const source = '(defun asked-new () 2)';
  return [
    ['write_file', { path: `${text.slice(0, 200).replaceAll('/', '-')}.lisp`, content: '1' }],
    ['write_file', { path: 'asked-new.lisp', content: text }],
    ['propose_file_edit', { path: file, original: '1', modified: text }],
    ['propose_file_edit', { path: file, original: '1', modified: '2', description: text }],
    ['edit_definitions', { edits: [{ path: file, definition: 'asked-one', text: `${source} ; ${text}` }] }],
    ['rename_symbol', { name: 'asked-one', to: `|${text}|` }],
    ['restart_image', { rebuild: text }],
    ['asked_dangerous', { form: text }],
  ];
}

const TOOL = `(live-lisp:register-tool live-lisp:*agent-q-registry*
  (live-lisp:define-tool "asked_dangerous" "Does it." '((:name "form" :type :string :description "A form"))
    :safety-level :dangerous :handler (lambda (args) args)))`;

/** Returns the attacks on the session AT. */
export async function askingAttacks(at: FileSession): Promise<Attack[]> {
  const file = 'asked.lisp';
  at.put(file, '(defun asked-one () 1)\n');
  await at.answer('load_file', { path: file });
  await at.session.eval(TOOL);
  return Object.entries(WAYS).flatMap(([way, text]) =>
    callsOf(text, file).map(([tool, args]) => ({
      name: `${tool}, ${Object.keys(args).join(' and ')}: a line ${way}`,
      try: async () => {
        at.questions.splice(0);
        await at.answer(tool, args);
        const lines = at.questions.flatMap((question) => question.split(/[\n\r\v\f\u0085\u2028\u2029]/));
        const first = at.questions.find((question) => !question.startsWith(`Approve ${tool} (dangerous`));
        if (first !== undefined) return `the question begins with ${first.slice(0, 80)}`;
        if (lines.some((line) => line.trimStart().startsWith(FORGED)))
          return 'a line of the question is forged';
        const hidden = HIDING.some((each) => at.questions.join('').includes(each));
        return hidden ? 'the question has characters that hide others' : undefined;
      },
    })),
  );
}
