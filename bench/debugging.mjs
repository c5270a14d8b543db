// Measures what five tasks of debugging take, without errors that are held and with them: calls, and tokens that a model
// writes and reads. Each task is scripted both ways, and both must reach the same state. With --write the table goes
// into docs/debugging.md.

import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { callTool, inTemporaryFolder, PROJECT, SERVER, withServer } from '../scripts/session.mjs';

const PAGE = join(PROJECT, 'docs', 'debugging.md');

/** @typedef {[tool: string, args: Record<string, unknown>]} Call */
/** @typedef {{ title: string, before?: string, plain: Call[], held: Call[], check: [form: string, answer: string] }} Task */

const PRICE = "(defun price (name) (or (cdr (assoc name *prices* :test #'string=)) 0))";
const EVAL = 'eval_form';
const AS_SHOP = { package: 'shop' };

/** @type {Task[]} */
const TASKS = [
  {
    title: 'a wrong value, some calls below',
    plain: [
      [EVAL, { form: '(shop:total \'("lamp" "desk"))' }],
      ['get_last_error', {}],
      [EVAL, { form: PRICE, ...AS_SHOP }],
      [EVAL, { form: '(shop:total \'("lamp" "desk"))' }],
    ],
    held: [
      [EVAL, { form: '(shop:total \'("lamp" "desk"))', on_error: 'hold' }],
      ['debug', { error: 1, fix: PRICE, frame: 1, retry: true }],
    ],
    check: ['(shop:total \'("lamp" "desk"))', '30'],
  },
  {
    title: 'an import that has done half of its work',
    plain: [
      [EVAL, { form: '(shop:take-in \'("1" "2" "x3" "4"))' }],
      ['get_last_error', {}],
      [EVAL, { form: 'shop::*taken*' }],
      [
        EVAL,
        { form: "(defun number-of (text) (parse-integer (remove-if-not #'digit-char-p text)))", ...AS_SHOP },
      ],
      [EVAL, { form: '(setf shop::*taken* (list))' }],
      [EVAL, { form: '(shop:take-in \'("1" "2" "x3" "4"))' }],
    ],
    held: [
      [EVAL, { form: '(shop:take-in \'("1" "2" "x3" "4"))', on_error: 'hold' }],
      [
        'debug',
        {
          error: 1,
          frame: 1,
          fix: "(defun number-of (text) (parse-integer (remove-if-not #'digit-char-p text)))",
          retry: true,
        },
      ],
    ],
    check: ['shop::*taken*', '(4 3 2 1)'],
  },
  {
    title: 'an error that a handler swallows',
    plain: [
      [EVAL, { form: '(shop:report "desk")' }],
      ['read_definition', { name: 'shop:report' }],
      ['who_calls', { name: 'shop:report' }],
      [EVAL, { form: '(shop::line-of "desk")' }],
      [EVAL, { form: PRICE, ...AS_SHOP }],
      [EVAL, { form: '(shop:report "desk")' }],
    ],
    held: [
      ['debug', { watch: 'shop', hold: true }],
      [EVAL, { form: '(shop:report "desk")' }],
      ['debug', { error: 1, fix: PRICE, frame: 1, retry: true }],
    ],
    check: ['(shop:report "desk")', '"desk: 0"'],
  },
  {
    title: 'a worker thread whose job must not be lost',
    before: '(shop:start-worker)',
    plain: [
      [EVAL, { form: '(shop:order "desk")' }],
      [EVAL, { form: '(sleep 0.3) shop::*answers*' }],
      ['get_last_error', {}],
      [EVAL, { form: PRICE, ...AS_SHOP }],
      [EVAL, { form: '(shop:start-worker)' }],
      [EVAL, { form: '(shop:order "desk")' }],
      [EVAL, { form: '(sleep 0.3) shop::*answers*' }],
    ],
    held: [
      ['debug', { watch: 'worker', hold: true }],
      [EVAL, { form: '(shop:order "desk") (sleep 0.3)' }],
      ['debug', { error: 1 }],
      ['debug', { error: 1, fix: PRICE, frame: 1, retry: true }],
    ],
    check: ['(sleep 0.3) shop::*answers*', '(0)'],
  },
  {
    title: 'a file that asks whether to go on',
    plain: [
      ['load_file', { path: 'setup.lisp' }],
      [EVAL, { form: '(handler-bind ((error #\'continue)) (load "setup.lisp"))' }],
    ],
    held: [['load_file', { path: 'setup.lisp', restarts: ['CONTINUE'] }]],
    check: ['shop::*set-up*', ':DONE'],
  },
];

const NO_HOLD = /is not held|Nothing was held/;

/**
 * Makes the CALLS of TASK with a server of its own, and returns how many they are and what they cost.
 * @param {Task} task
 * @param {Call[]} calls
 */
async function measure({ title, before, check }, calls) {
  return inTemporaryFolder(async (folder) => {
    cpSync(join(PROJECT, 'bench', 'debugging'), folder, { recursive: true });
    cpSync(join(PROJECT, 'examples', 'prices.lisp'), join(folder, 'prices.lisp'));
    const server = { command: process.execPath, args: [SERVER, '--root', '.'], folder };
    return withServer(server, async (client) => {
      for (const path of ['prices.lisp', 'shop.lisp']) await callTool(client, 'load_file', { path });
      if (before !== undefined) await callTool(client, EVAL, { form: before });
      let tokens = 0;
      for (const [tool, args] of calls) {
        const { text } = await callTool(client, tool, args);
        if (process.argv.includes('--verbose')) console.log(`> ${tool} ${JSON.stringify(args)}\n${text}\n`);
        if (NO_HOLD.test(text)) throw new Error(`${title}: ${text}`);
        tokens += countTokens(`${tool} ${JSON.stringify(args)}`) + countTokens(text);
      }
      const [form, wanted] = check;
      const { text } = await callTool(client, EVAL, { form });
      if (text.split('\n')[0] !== wanted && !text.endsWith(wanted))
        throw new Error(`${title}: ${form} gives ${text}, not ${wanted}`);
      return { calls: calls.length, tokens };
    });
  });
}

/** Returns the table of all tasks. */
async function table() {
  const rows = [];
  for (const task of TASKS) {
    const plain = await measure(task, task.plain);
    const held = await measure(task, task.held);
    rows.push({ title: task.title, plain, held });
  }
  const line = ({ title, plain, held }) =>
    `| ${title} | ${plain.calls} calls, ${plain.tokens} tokens | ${held.calls} ${held.calls === 1 ? 'call' : 'calls'}, ${held.tokens} tokens |`;
  const sum = (way) => ({
    calls: rows.reduce((all, row) => all + row[way].calls, 0),
    tokens: rows.reduce((all, row) => all + row[way].tokens, 0),
  });
  return [
    '| task | without held errors | with them |',
    '|:--|:--|:--|',
    ...rows.map(line),
    line({ title: 'all five', plain: sum('plain'), held: sum('held') }),
  ].join('\n');
}

const text = await table();
console.log(text);
if (process.argv.includes('--write')) {
  const page = readFileSync(PAGE, 'utf8');
  writeFileSync(
    PAGE,
    page.replace(
      /(<!-- tasks:start -->\n)[\s\S]*?(<!-- tasks:end -->)/,
      (_, start, end) => `${start}${text}\n${end}`,
    ),
  );
}
