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
import { type Session, startSession, temporaryFolder, testSbcl } from '../harness.ts';

const PROBES = join(import.meta.dirname, 'probes');
const FILES = join(import.meta.dirname, 'files');
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
  told: string;
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
    const told = new Map(
      (existsSync(outcomes) ? readFileSync(outcomes, 'utf8') : '').split('\n').map((line) => {
        const [number = ''] = line.split(' ', 1);
        return [Number(number), line.slice(number.length + 1)];
      }),
    );
    return forms.map((_, number) => ({
      told: normalised(told.get(number) ?? 'not told', folder),
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

/** Resolves with the outcomes of FORMS in a plain SBCL, one after the other in one process. */
export function inPlain(forms: readonly string[]): Promise<Outcome[]> {
  return inFolder(forms, async (folder, outcomes) => {
    const list = join(folder, 'forms.txt');
    const written = join(folder, 'written.txt');
    writeFileSync(list, `${forms.join('\n')}\n`);
    const out = openSync(written, 'w');
    const mark = '=== probe ';
    const evaluated = [
      `(load ${JSON.stringify(TELL)})`,
      `(setf unnoticed:*outcomes* ${JSON.stringify(outcomes)})`,
      `(unnoticed:tell-all ${JSON.stringify(list)} ${JSON.stringify(mark)})`,
      '(sb-ext:exit :abort t)',
    ];
    const options = ['--noinform', '--no-sysinit', '--no-sysinit', '--no-userinit'];
    // A variable that names the SBCL of the tests is of the tests, not of the system.
    const env = Object.entries(process.env).filter(([name]) => !name.startsWith('LIVE_LISP_'));
    spawnSync(testSbcl(), [...options, ...evaluated.flatMap((form) => ['--eval', form])], {
      cwd: folder,
      env: Object.fromEntries(env),
      stdio: ['ignore', out, out],
      timeout: 120_000,
    });
    closeSync(out);
    const parts = readFileSync(written, 'utf8').split(new RegExp(`^${mark}(\\d+)\\n`, 'm'));
    const outputs: string[] = [];
    for (let index = 1; index < parts.length; index += 2)
      outputs[Number(parts[index])] = parts[index + 1] ?? '';
    return outputs;
  });
}

/** A way to run probes in an image of a server. */
export interface Mode {
  args?: readonly string[];
  /** Runs each probe in the main thread. */
  mainThread?: boolean;
  /** Prepares the image for the probes. It resolves with what is done after them. */
  begin?: (session: Session) => Promise<() => Promise<void>>;
}

/** Resolves with the outcomes of FORMS in the image of a server, one after the other. */
export function inOurs(forms: readonly string[], mode: Mode = {}): Promise<Outcome[]> {
  return inFolder(forms, async (folder, outcomes) => {
    const session = await startSession({ args: ['--root', folder, ...(mode.args ?? [])], cwd: folder });
    try {
      const end = await mode.begin?.(session);
      await session.eval(
        `(progn (load ${JSON.stringify(TELL)}) (setf (symbol-value (find-symbol "*OUTCOMES*" "UNNOTICED")) ${JSON.stringify(outcomes)}))`,
      );
      const outputs: string[] = [];
      for (const [number, form] of forms.entries()) outputs.push(await told(session, number, form, mode));
      await end?.();
      return outputs;
    } finally {
      await session.close();
    }
  });
}

/** Evaluates FORM, the probe with NUMBER, as MODE says. Resolves with all that the answer tells besides the value. */
async function told(session: Session, number: number, form: string, { mainThread }: Mode): Promise<string> {
  const { text, notices } = await session.call('eval_form', {
    form: `(unnoticed:tell ${number} '${form})`,
    ...(mainThread && { main_thread: true }),
  });
  // That something else runs is told of the mode, not of the probe.
  const ofProbe = notices.filter((notice) => !notice.startsWith('Note: still under way'));
  const rest = [text.replace(/^:TOLD(\n\n)?/, ''), ...ofProbe].filter((part) => part !== '');
  return rest.join('\n').replace(/^Output:\n/, '');
}
