// Decides the calls of docs/jobs.md, one after the other in one session over a copy of fixtures/jobs, and makes them. A call
// uses only names and texts that its task names or an answer before it gave.

import { copyFileSync, cpSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { asdfEnvironment, callTool, inTemporaryFolder, PROJECT, SERVER, withServer } from './session.mjs';
import { callText } from './transcript.mjs';

const FIXTURE = join(PROJECT, 'fixtures', 'jobs');

/** Answers of more than MOST lines are cut to so many LINES, and lines to so many CHARACTERS. */
const SHOWN = { most: 10, lines: 7, characters: 160 };

const TESTS = 'bakery/tests';

/** Returns the step that makes EDITS, runs the tests, and evaluates FORMS. */
function changed(edits, ...forms) {
  return [
    'run_tests',
    Object.fromEntries([['system', TESTS], ['edits', edits], ...(forms.length > 0 ? [['then', forms]] : [])]),
  ];
}

const BUNS = '(loop for n below 4000 collect (list (list (princ-to-string n) 1)))';

/** The calls of each job. A function stands for what happens outside: it gets the folder, the client, the port of the
 *  server and the answers that its customers wait for, and returns the line that tells of it. */
const JOBS = {
  load: [
    ['load_system', { system: TESTS }],
    ['eval_form', { form: '(bakery:serve)' }],
  ],
  understand: [['impact_of_change', { name: 'bakery:price-of' }]],
  test: [
    ['run_tests', { system: TESTS }],
    ['read_definition', { name: 'bakery:line-total bakery:price-of' }],
    changed([{ definition: 'bakery:price-of', old: 'count 11', new: 'count 12' }]),
  ],
  rename: [['rename_symbol', { name: 'bakery:line-total', to: 'line-price' }]],
  keyword: [
    ['impact_of_change', { name: 'bakery:price-of', lambda_list: '(name count &key (dozen t))' }],
    changed(
      [
        { definition: 'bakery:price-of', old: '(name count)', new: '(name count &key (dozen t))' },
        {
          definition: 'bakery:price-of',
          old: '(floor count 12)',
          new: '(if dozen (floor count 12) 0)',
        },
        {
          definition: 'bakery:price-of',
          op: 'calls',
          path: 'menu.lisp',
          old: '(price-of name count)',
          new: '(price-of name count :dozen nil)',
        },
      ],
      '(bakery::noon-bun 12)',
    ),
  ],
  class: [
    ['impact_of_change', { name: 'bakery:product' }],
    [
      'impact_of_change',
      {
        name: 'bakery:product',
        definition:
          '(defclass product () ((name :initarg :name :reader name) (cents :initarg :cents :accessor price) (stock :initform 0 :accessor stock)))',
      },
    ],
    changed(
      [
        {
          definition: 'bakery:product',
          old: '(price :initarg :price :accessor price)',
          new: '(cents :initarg :cents :accessor price)\n   (stock :initform 0 :accessor stock)',
        },
        { definition: 'bakery:*products*', old: ':price price', new: ':cents price' },
        {
          definition: 'bakery:product',
          op: 'after',
          text: '(defmethod update-instance-for-redefined-class :after ((product product) added gone values &key)\n  "Keep the price, which was in a slot of that name."\n  (when (member \'price gone)\n    (setf (price product) (getf values \'price))))',
        },
      ],
      '(mapcar (lambda (each) (list (bakery:price each) (bakery::stock each))) bakery:*products*)',
    ),
  ],
  server: [
    ['debug', { watch: 'bakery', hold: true }],
    async ({ client, port, customers }) => {
      customers.push(asked(port, '2 bagel'));
      const watched = { watched: true };
      while (!/^Signalled/.test((await callTool(client, 'get_last_error', watched)).text)) await pause(100);
      return '(a customer asks the server for "2 bagel", and waits)';
    },
    ['debug', {}],
    [
      'debug',
      {
        error: 1,
        fix: '(defun price-of (name count &key (dozen t))\n  "Return the price in cents of COUNT products called NAME, 0 for what is not sold. Twelve cost as much as eleven."\n  (let ((product (find-product name)))\n    (if product (* (price product) (- count (if dozen (floor count 12) 0))) 0)))',
        frame: 2,
        retry: true,
      },
    ],
    async ({ customers }) => `(the customer reads ${JSON.stringify(await customers.at(-1))})`,
  ],
  slow: [
    ['observe', { form: `(bakery:names-sold ${BUNS})`, mode: 'cpu', limit: 4 }],
    ['read_definition', { name: 'bakery:names-sold' }],
    changed(
      [
        {
          definition: 'bakery:names-sold',
          text: '(defun names-sold (orders)\n  "Return the names of all products in ORDERS, lists of lines, each once."\n  (let ((seen (make-hash-table :test #\'equal)))\n    (loop for (name) in (apply #\'append orders)\n          unless (shiftf (gethash name seen) t) collect name)))',
        },
      ],
      `(length (bakery:names-sold ${BUNS}))`,
    ),
  ],
  memory: [
    [
      'eval_form',
      {
        form: `(dotimes (n 5000) (bakery:receipt n '(("bun" 2))))
(loop for name being the present-symbols of :bakery
      for value = (and (boundp name) (symbol-value name))
      for size = (typecase value (hash-table (hash-table-count value)) (sequence (length value)) (t 0))
      when (> size 100) collect (list name size))`,
      },
    ],
    ['who_references', { name: 'bakery::*receipts*', sites: true }],
    changed(
      [
        {
          definition: 'bakery:receipt',
          old: '(setf (gethash number *receipts*)\n        (format nil "~D: ~A" number (coins:written (order-total lines) "EUR")))',
          new: '(format nil "~D: ~A" number (coins:written (order-total lines) "EUR"))',
        },
        { definition: 'bakery:*receipts*', op: 'delete' },
      ],
      '(bakery:receipt 7 \'(("bun" 2)))',
    ),
  ],
  feature: [
    ['read_file', { paths: ['bakery.lisp', 'tests.lisp'] }],
    changed([
      { path: 'bakery.lisp', old: '#:order-total', new: '#:order-total #:dearest-line' },
      {
        definition: 'bakery:order-total',
        op: 'after',
        text: '(defun dearest-line (lines)\n  "Return the one of LINES that costs most."\n  (first (sort (copy-list lines) #\'> :key #\'line-price)))',
      },
      {
        path: 'tests.lisp',
        text: '(deftest dearest (dearest-line \'(("bun" 2) ("pie" 1))) ("pie" 1))',
      },
    ]),
  ],
  upgrade: [
    async ({ folder }) => {
      // ASDF compares dates in whole seconds: the file must be newer than what was compiled of it.
      await pause(1100);
      copyFileSync(join(folder, 'coins-2.lisp'), join(folder, 'coins', 'coins.lisp'));
      return '(the new version of coins comes into its folder)';
    },
    ['load_system', { system: 'bakery' }],
    changed(
      [{ path: 'bakery.lisp', old: ' "EUR")', new: ')', all: true }],
      '(bakery:receipt 7 \'(("bun" 2)))',
    ),
  ],
};

/** Returns what the server of the bakery at PORT answers to LINE. */
function asked(port, line) {
  return new Promise((resolve, reject) => {
    const customer = createConnection(port, '127.0.0.1', () => customer.write(`${line}\n`));
    let heard = '';
    customer.setEncoding('utf8').on('data', (text) => {
      heard += text;
    });
    customer.on('end', () => resolve(heard.trimEnd())).on('error', reject);
  });
}

/** Makes the calls of all jobs. Returns for each its calls, with `tool`, `args` and the answer `text`, and the lines that
 *  tell what happened outside. */
export async function jobs() {
  return inTemporaryFolder(async (temporary) => {
    const folder = join(temporary, 'bakery');
    cpSync(FIXTURE, folder, { recursive: true });
    const env = asdfEnvironment(temporary);
    const args = [SERVER, '--allow', 'edit_definitions', '--allow', 'rename_symbol'];
    return withServer({ command: process.execPath, args, folder, env }, async (client) => {
      const done = {};
      const customers = [];
      let port = 0;
      for (const [name, steps] of Object.entries(JOBS)) {
        done[name] = [];
        for (const step of steps) {
          if (typeof step === 'function') {
            done[name].push(await step({ folder, client, port, customers }));
            continue;
          }
          const [tool, args] = step;
          const { text } = await callTool(client, tool, args);
          if (name === 'load') port = Number(text);
          done[name].push({ tool, args, text });
        }
      }
      return done;
    });
  });
}

/** Returns TEXT, an answer, without empty lines and what differs each time, and its beginning only when it is long. */
function shown(text) {
  const lines = text
    .replace(/\{[0-9A-F]{6,}\}/g, '{...}')
    .replace(/\b\d+\.\d s\b/g, '0.1 s')
    .replace(/\d+(?:\.\d+)? (?:ns|µs|ms)\b/g, '12 ms')
    .replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:4242')
    .replace(/fd: \d+/g, 'fd: 7')
    .replace(/^\d{5}$/, '4242')
    .replace(
      /^Flame graph: .*$/m,
      'Flame graph: ~/.local/state/live-lisp/profiles/0123456789abcdef01234567.20261121120000000.svg',
    )
    .replace(
      /^(?:\d+ runs of|One run took) .*$/m,
      '18 runs of 12 ms and 128 MB each. 206 samples of CPU time.',
    )
    // Which functions of SBCL a profile shows, and how many, differs each time.
    .replace(/^ +[\d.]+% +[\d.]+% {2}(?!BAKERY).*\n|^\.\.\. \d+ more functions .*\n/gm, '')
    .replace(/^ +[\d.]+% +[\d.]+% {2}(BAKERY\S+ {2}\S+).*$/gm, '     0%    99%  $1')
    .split('\n')
    .filter((line) => line !== '');
  const more = lines.length > SHOWN.most ? lines.length - SHOWN.lines : 0;
  const wide = (line) => (line.length > SHOWN.characters ? `${line.slice(0, SHOWN.characters)} ...` : line);
  return [
    ...lines.slice(0, lines.length - more).map(wide),
    ...(more > 0 ? [`(and ${more} lines more)`] : []),
  ].join('\n');
}

/** Returns the parts of docs/jobs.md by the names of their marks. DONE is what `jobs` returned. */
export function jobParts(done) {
  return Object.fromEntries(
    Object.entries(done).map(([name, steps]) => [
      `job-${name}`,
      steps.map((step) => (typeof step === 'string' ? step : callText(step, shown(step.text)))).join('\n'),
    ]),
  );
}

if (process.argv[1] === import.meta.filename) {
  for (const [name, text] of Object.entries(jobParts(await jobs()))) console.log(`\n== ${name}\n${text}`);
}
