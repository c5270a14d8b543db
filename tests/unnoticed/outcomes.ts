// What came of each probe in a plain SBCL and in an image of the server.

import { spawnSync } from 'node:child_process';
import {
  closeSync,
  cpSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type Caller, startSession, temporaryFolder, testSbcl } from '../harness.ts';
import { everyNth } from '../long.ts';

const PROBES = join(import.meta.dirname, 'probes');
const FILES = join(import.meta.dirname, 'files');
const SUITE = join(import.meta.dirname, 'suite');
/** The file that evaluates probes in an image. */
export const TELL = join(import.meta.dirname, 'tell.lisp');

/** A form, and the row of docs/differences.md that says why it differs, if it does: in its values and conditions, or only
 *  in its output. */
export interface Probe {
  form: string;
  row?: string;
  in?: 'outcome' | 'output';
}

/** What came of a probe: a line about its values or condition and what it signalled, and what it wrote. */
export interface Outcome {
  reported: string;
  output: string;
}

/** Returns the probes: a line each in the files of probes/, without those that begin a comment. */
export function probes(): Probe[] {
  const lines = readdirSync(PROBES)
    .sort()
    .flatMap((name) => readFileSync(join(PROBES, name), 'utf8').split('\n'))
    .filter((line) => line !== '' && !line.startsWith(';'));
  return lines.map((line) => {
    const [, only, row, form] = /^\((output-)?differs ([a-z-]+) (.*)\)$/.exec(line) ?? [];
    if (form === undefined || row === undefined) return { form: line };
    return { form, row, in: only === undefined ? 'outcome' : 'output' };
  });
}

/** Returns every Nth of PROBES, and those without which others fail, as what loads ASDF; in the long run all. */
export function everyNthProbe(n: number, probes: readonly Probe[]): Probe[] {
  const some = new Set(everyNth(n, probes));
  return probes.filter((probe) => some.has(probe) || probe.form.includes('(require '));
}

/** Calls WORK in a folder with the files that probes use; it resolves with the outcomes of FORMS. WORK gets the folder and
 *  the file to which outcomes go, and resolves with the output of each. */
async function inFolder(
  forms: readonly string[],
  work: (folder: string, outcomes: string) => Promise<string[]>,
): Promise<Outcome[]> {
  const { path, remove } = temporaryFolder();
  try {
    const folder = realpathSync(path);
    cpSync(FILES, folder, { recursive: true });
    const outcomes = join(folder, 'outcomes.txt');
    const outputs = await work(folder, outcomes);
    const reported = new Map(
      [...(existsSync(outcomes) ? readFileSync(outcomes, 'utf8') : '').matchAll(/^(\d+) (.*)$/gm)].map(
        ([, number, said = '']) => [Number(number), said],
      ),
    );
    return forms.map((_, number) => ({
      reported: normalised(reported.get(number) ?? 'not told', folder),
      // An answer leaves out blank lines around the output.
      output: normalised(outputs[number] ?? '', folder).trim(),
    }));
  } finally {
    remove();
  }
}

/** Returns TEXT without what differs between two runs of the same SBCL: addresses, times, and the name of FOLDER. */
function normalised(text: string, folder: string): string {
  return text
    .replaceAll(folder, 'FOLDER')
    .replace(/\{[0-9A-F]{6,}\}/g, '{ADDRESS}')
    .replace(/#[xX][0-9A-Fa-f]{6,}/g, 'ADDRESS')
    .replace(/\d\d? [A-Z]{3} \d{4} \d\d:\d\d:\d\d [AP]M|\d+:\d\d:\d\d(\.\d+)?/g, 'TIME');
}

/** Resolves with the outcomes of FORMS in a plain SBCL, one after the other in one process, which evaluates the forms
 *  BEFORE first. */
export function inPlain(forms: readonly string[], before: readonly string[] = []): Promise<Outcome[]> {
  return inFolder(forms, async (folder, outcomes) => {
    const list = join(folder, 'forms.txt');
    const mark = '=== probe ';
    writeFileSync(list, `${forms.join('\n')}\n`);
    const written = runPlain(folder, outcomes, [
      ...before,
      `(unnoticed:tell-all ${JSON.stringify(list)} ${JSON.stringify(mark)})`,
    ]);
    const parts = written.split(new RegExp(`^${mark}(\\d+)\\n`, 'm'));
    const outputs: string[] = [];
    for (let index = 1; index < parts.length; index += 2)
      outputs[Number(parts[index])] = parts[index + 1] ?? '';
    return outputs;
  });
}

/** Evaluates FORMS in a plain SBCL in FOLDER that has loaded tell.lisp, with outcomes in the file OUTCOMES. Returns what
 *  it wrote. */
function runPlain(folder: string, outcomes: string, forms: readonly string[]): string {
  const written = join(folder, 'written.txt');
  const out = openSync(written, 'w');
  const evaluated = [
    `(load ${JSON.stringify(TELL)})`,
    `(setf unnoticed:*outcomes* ${JSON.stringify(outcomes)})`,
    ...forms,
    '(sb-ext:exit :abort t)',
  ];
  const options = ['--noinform', '--no-sysinit', '--no-sysinit', '--no-userinit'];
  // A variable that names the SBCL of the tests is of the tests, not of the system.
  const env = Object.entries(process.env).filter(([name]) => !name.startsWith('LIVE_LISP_'));
  spawnSync(testSbcl(), [...options, ...evaluated.flatMap((form) => ['--eval', form])], {
    cwd: folder,
    env: Object.fromEntries(env),
    stdio: ['ignore', out, out],
    timeout: 500_000,
  });
  closeSync(out);
  return readFileSync(written, 'utf8');
}

/** Puts the system probe-tests into FOLDER, whose test tells FORMS. Returns the file of its definition. */
function putSuite(folder: string, forms: readonly string[]): string {
  const suite = join(folder, 'suite');
  cpSync(SUITE, suite, { recursive: true });
  writeFileSync(join(suite, 'forms.txt'), `${forms.join('\n')}\n`);
  return join(suite, 'probe-tests.asd');
}

/** Resolves with the outcomes of FORMS in a test of FiveAM that ASDF runs in a plain SBCL. */
export function inPlainTest(forms: readonly string[]): Promise<Outcome[]> {
  return inFolder(forms, async (folder, outcomes) => {
    const definition = putSuite(folder, forms);
    runPlain(folder, outcomes, [
      '(require :asdf)',
      `(asdf:load-asd ${JSON.stringify(definition)})`,
      '(asdf:test-system "probe-tests")',
    ]);
    return [];
  });
}

/** Resolves with the outcomes of FORMS in a test of FiveAM that run_tests runs. */
export function inOurTest(forms: readonly string[]): Promise<Outcome[]> {
  return inFolder(forms, (folder, outcomes) => {
    putSuite(folder, forms);
    return inSession(folder, outcomes, {}, async (session) => {
      const { text } = await session.call('run_tests', { system: 'probe-tests' });
      if (!text.startsWith('probe-tests: 1 of 1 test fails')) throw new Error(text);
      return [text];
    });
  });
}

/** Calls WORK with a session in FOLDER, as OPENS opens it or of a server with ARGS, and with its outcomes in the file
 *  OUTCOMES. BEGIN prepares the image before; what it resolves with is called after. */
async function inSession<T>(
  folder: string,
  outcomes: string,
  { args = [], opens, begin }: Mode,
  work: (session: Caller) => Promise<T>,
): Promise<T> {
  const session = opens
    ? await opens(folder)
    : await startSession({ args: ['--root', folder, ...args], cwd: folder });
  try {
    const end = await begin?.(session);
    await session.eval(
      `(progn (load ${JSON.stringify(TELL)}) (setf (symbol-value (find-symbol "*OUTCOMES*" "UNNOTICED")) ${JSON.stringify(outcomes)}))`,
    );
    const result = await work(session);
    await end?.();
    return result;
  } finally {
    await session.close();
  }
}

/** A way to run probes in an image of a server. */
export interface Mode {
  args?: readonly string[];
  /** Starts an image of somebody else's in a folder, and resolves with what calls tools in it. */
  opens?: (folder: string) => Promise<Caller>;
  /** Evaluates a form in the image of a session, and resolves with what the answer says besides the value. */
  evaluates?: (session: Caller, form: string) => Promise<string>;
  /** Prepares the image for the probes. It resolves with what is done after them. */
  begin?: (session: Caller) => Promise<() => Promise<void>>;
}

/** Resolves with the outcomes of FORMS in the image of a server, one after the other. */
export function inOurs(forms: readonly string[], mode: Mode = {}): Promise<Outcome[]> {
  const evaluates = mode.evaluates ?? ((session, form) => byEvalForm(session, { form }));
  return inFolder(forms, (folder, outcomes) =>
    inSession(folder, outcomes, mode, async (session) => {
      const outputs: string[] = [];
      for (const [number, form] of forms.entries())
        outputs.push(await evaluates(session, `(unnoticed:tell ${number} '${form})`));
      return outputs;
    }),
  );
}

async function byEvalForm(session: Caller, args: Record<string, unknown>): Promise<string> {
  const { text, notices } = await session.call('eval_form', args);
  // That something else runs is told of the mode, not of the probe.
  const ofProbe = notices.filter((notice) => !notice.startsWith('Note: still running'));
  const rest = [text.replace(/^:TOLD(\n\n)?/, ''), ...ofProbe].filter((part) => part !== '');
  return rest.join('\n').replace(/^Output:\n/, '');
}

/** Runs each form in the main thread. */
export const MAIN_THREAD: Mode = {
  evaluates: (session, form) => byEvalForm(session, { form, main_thread: true }),
};

/** Runs each form while observe records calls, with ARGS. */
export function observing(args: Record<string, unknown>): Mode {
  return { evaluates: (session, form) => session.text('observe', { form, limit: 1, ...args }) };
}
