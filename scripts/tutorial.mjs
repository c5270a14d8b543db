// Decides the calls of docs/tutorial.md and of the picture in README.md, and makes them: with a copy of cl-ppcre, a real
// server, and a person who approves.

import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { asdfEnvironment, callTool, inTemporaryFolder, SERVER, withServer } from './session.mjs';
import { callText } from './transcript.mjs';

const LIBRARY = '/usr/share/common-lisp/source/cl-ppcre';
const METHOD = '(defmethod cl-ppcre::convert-compound-parse-tree ((eql :greedy-repetition) t))';

/** The fix: what it stands behind, and with it. */
const OLD = '      (declare (type (or null fixnum) maximum))\n      (unless (and maximum\n';
const NEW = `      (declare (type (or null fixnum) maximum))
      (when (and maximum (< maximum minimum))
        (signal-syntax-error "A repetition from ~A to ~A can match nothing." minimum maximum))
      (unless (and maximum
`;

const BAD = { form: '(cl-ppcre:scan-to-strings "^a{2,1}$" "aa")' };
const GOOD = { form: '(cl-ppcre:scan-to-strings "^a{1,2}$" "aa")' };

/** The calls of each step. */
const STEPS = {
  load: [['load_system', { system: 'cl-ppcre' }]],
  see: [['eval_form', BAD]],
  tree: [['eval_form', { form: '(cl-ppcre:parse-string "a{2,1}")' }]],
  read: [['read_definition', { name: METHOD }]],
  fix: [['edit_definitions', { edits: [{ definition: METHOD, old: OLD, new: NEW }], load: true }]],
  try: [
    ['eval_form', BAD],
    ['eval_form', GOOD],
  ],
  test: [['run_tests', { system: 'cl-ppcre/test' }]],
};

/** Lines of an answer that are shown. */
const SHOWN = 24;

/** Returns TEXT, an answer, without what differs each time, and its first lines only when it is long. */
function shown(text) {
  const lines = text.replace(/\{[0-9A-F]{6,}\}/g, '{...}').split('\n');
  if (lines.length <= SHOWN) return lines.join('\n');
  return [...lines.slice(0, SHOWN), `(and ${lines.length - SHOWN} lines more)`].join('\n');
}

/** Makes the calls of the tutorial. Returns by the name of each step its calls, with `tool`, `args` and the answer `text`;
 *  and as `question` what the person was asked. */
export async function tutorial() {
  return inTemporaryFolder(async (temporary) => {
    const folder = join(temporary, 'cl-ppcre');
    cpSync(LIBRARY, folder, { recursive: true, dereference: true });
    // Its tests need flexi-streams, which the machine has.
    const env = { ...asdfEnvironment(temporary), CL_SOURCE_REGISTRY: '' };
    const asked = [];
    const approve = ({ message }) => {
      asked.push(message);
      return { action: 'accept', content: { decision: 'approve' } };
    };
    const server = { command: process.execPath, args: [SERVER], folder, env, approve };
    return withServer(server, async (client) => {
      const steps = {};
      for (const [name, calls] of Object.entries(STEPS)) {
        steps[name] = [];
        // ASDF compares dates in whole seconds: the file must be newer than what was compiled of it.
        if (name === 'fix') await pause(1100);
        for (const [tool, args] of calls) {
          const { text } = await callTool(client, tool, args);
          steps[name].push({ tool, args, text: shown(text) });
        }
      }
      const [question] = asked;
      // The last line is where the whole preview is, another file each time.
      return { ...steps, question: question.split('\n').slice(0, -1).join('\n') };
    });
  });
}

/** Returns the parts of docs/tutorial.md by the names of their marks. REPORTED is what `tutorial` returned. */
export function tutorialParts({ question, ...steps }) {
  const parts = Object.entries(steps).map(([name, calls]) => [
    `tutorial-${name}`,
    calls.map((call) => callText(call, call.text)).join('\n\n'),
  ]);
  return Object.fromEntries([...parts, ['tutorial-question', question]]);
}
