// Decides what the demo and the README show: sessions over fixtures/demo, and how a call and its answer read.

import { describesCalls, needsInventory } from './examples.mjs';
import { callTool, withDemo } from './session.mjs';

const GOOD_ORDER = `(inventory:order-total '(("lamp" 2) ("desk" 1)))`;
const BAD_ORDER = `(inventory:order-total '(("lamp" 2) ("Desk" 1)))`;
const BETTER_FIND_ITEM = `(defun find-item (name)
  "Return the item called NAME, in upper or lower case. Signal UNKNOWN-ITEM when there is none."
  (or (find name *stock* :key #'item-name :test #'string-equal)
      (error 'unknown-item :name name)))`;

export const LOAD = { tool: 'load_file', args: { path: 'inventory.lisp' } };

/** Symbols, callers, a condition as a result. */
export const SHORT = [
  { tool: 'apropos_search', args: { pattern: 'find', package: 'inventory' } },
  { tool: 'who_calls', args: { name: 'inventory:find-item', sites: true } },
  { tool: 'eval_form', args: { form: '(inventory:find-item "Desk")' }, fails: true },
];

/** The whole session; each step says first what it is for. */
export const LONG = [
  { about: 'Load a Lisp file into the running image.', ...LOAD },
  {
    about: 'Which functions does it have for totals?',
    tool: 'apropos_search',
    args: { pattern: 'total', package: 'inventory', type: 'function' },
  },
  {
    about: 'Who calls one of them, and where?',
    tool: 'who_calls',
    args: { name: 'inventory:line-total', sites: true },
  },
  { about: 'Evaluate a call.', tool: 'eval_form', args: { form: GOOD_ORDER } },
  {
    about: 'A call that signals: the condition, its restarts and the frames are the answer.',
    tool: 'eval_form',
    args: { form: BAD_ORDER },
    fails: true,
  },
  {
    about: 'Names should match in upper and lower case: define the function again.',
    tool: 'eval_form',
    args: { form: BETTER_FIND_ITEM, package: 'inventory' },
  },
  { about: 'The same call, in the same image, works now.', tool: 'eval_form', args: { form: BAD_ORDER } },
];

/** Performs STEP through CLIENT and returns the text of its answer. Throws when the call failed and should not
 *  have, or the other way round. */
export async function perform(client, { tool, args, fails = false }) {
  const { text, failed } = await callTool(client, tool, args);
  if (failed !== fails) throw new Error(`${tool} ${failed ? 'failed' : 'did not fail'}: ${text}`);
  return text;
}

/** Calls USE with a client of a server over fixtures/demo and FILES, and with what calls its second argument with a client
 *  for a tool. Tools that only look share the first, where inventory.lisp is loaded; the others get a server each. */
export async function withDemos(use, files = []) {
  return withDemo(async (shared) => {
    await perform(shared, LOAD);
    const onFresh = (name, call) =>
      withDemo(async (client) => {
        if (needsInventory(name)) await perform(client, LOAD);
        return call(client);
      }, files);
    const onDemo = ({ name, annotations }, call) =>
      annotations?.readOnlyHint && !describesCalls(name) ? call(shared) : onFresh(name, call);
    return use(shared, onDemo);
  }, files);
}

/** Returns how a call of TOOL with ARGS and its answer TEXT read. */
export function callText({ tool, args }, text) {
  return `> ${tool} ${JSON.stringify(args)}\n${text.trimEnd().replace(/^(?=.)/gm, '  ')}`;
}

/** Performs SHORT through CLIENT and returns it as text, without the blank lines of the answers. */
export async function shortTranscript(client) {
  await perform(client, LOAD);
  const calls = [];
  for (const step of SHORT) calls.push(callText(step, await perform(client, step)));
  return calls.join('\n').replace(/\n+/g, '\n');
}
