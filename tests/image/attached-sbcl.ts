// An SBCL that somebody else runs, here a test: its backend serves the wire on a socket.

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { AttachedImage } from '../../src/image/attached/attached-image.ts';
import { HeldCalls } from '../../src/image/session/held.ts';
import { Executor } from '../../src/kernel/executor.ts';
import { ToolRegistry } from '../../src/kernel/registry.ts';
import { ReplHistory } from '../../src/records/repl-history.ts';
import { debugTool } from '../../src/tools/debug/debug.ts';
import { inspectTool } from '../../src/tools/debug/inspect.ts';
import { evalFormTool } from '../../src/tools/execution/evaluation.ts';
import { imageStatusTool } from '../../src/tools/execution/image-status.ts';
import { getLastErrorTool } from '../../src/tools/execution/last-error.ts';
import { Places } from '../../src/tools/places.ts';
import { type Caller, PROJECT, temporaryFolder, testSbcl } from '../harness.ts';
import { until } from '../server/processes.ts';
import { described } from './served.ts';

/** The seconds in which the backend is compiled, which is done once for each version of it. */
const COMPILING_MS = 120_000;

/** Starts an SBCL, which evaluates the forms BEFORE, the line that attaches it, and the form AFTER, as a person would in a
 *  REPL in the folder CWD. SERVING is the folder in which the image is found. Resolves once it is served, with its process
 *  and its socket. With SILENT nobody sees what it writes to its standard error. */
export async function startSbcl(
  serving: string,
  {
    before = [],
    after = '(loop (sleep 1))',
    cwd,
    silent = false,
  }: { before?: string[]; after?: string; cwd?: string; silent?: boolean } = {},
): Promise<{ sbcl: ChildProcess; socket: string }> {
  const forms = [...before, `(load "${join(PROJECT, 'lisp', 'attach.lisp')}")`, after];
  const args = ['--noinform', '--no-sysinit', '--no-userinit', ...forms.flatMap((form) => ['--eval', form])];
  const sbcl = spawn(testSbcl(), args, {
    ...(cwd && { cwd }),
    env: { ...process.env, LIVE_LISP_SERVING: serving },
    stdio: ['pipe', 'pipe', silent ? 'ignore' : 'inherit'],
  });
  const entry = join(serving, `sbcl-${sbcl.pid}.json`);
  await until('the entry of the image', COMPILING_MS, () => existsSync(entry));
  return { sbcl, socket: join(serving, `sbcl-${sbcl.pid}.socket`) };
}

/** A person at the REPL of an SBCL. */
export interface Person {
  /** Evaluates FORM there, and resolves with what it returns as that prints it. */
  say: (form: string) => Promise<string>;
  /** Returns all that the image has printed to its terminal. */
  printed: () => string;
}

/** What a person does before the line for which `personAt` is to talk: its debugger says so and ends the thread. */
export const PERSON = `(setf sb-ext:*invoke-debugger-hook*
  (lambda (c h) (declare (ignore h)) (format t "DEBUGGER ~A~%" c) (finish-output) (sb-thread:abort-thread)))`;

/** The form after the line by which the image evaluates what the person says. */
export const REPL = '(loop (eval (read)))';

/** Returns the person at the REPL of SBCL, which evaluates the form REPL. */
export function personAt(sbcl: ChildProcess): Person {
  let text = '';
  sbcl.stdout?.on('data', (more) => {
    text += more;
  });
  return {
    printed: () => text,
    say: async (form) => {
      const start = text.length;
      sbcl.stdin?.write(`(progn (format t "~&VALUE ~S END~%" ${form}) (finish-output))\n`);
      await until('the value', 60_000, () => / END$/m.test(text.slice(start)));
      return /^VALUE (.*) END$/ms.exec(text.slice(start))?.[1] ?? '';
    },
  };
}

/** Returns what calls tools of evaluation and debugging in IMAGE, with files of FOLDER. */
export function toolCaller(image: AttachedImage, folder: string): Omit<Caller, 'close'> {
  const registry = new ToolRegistry();
  const places = new Places(folder);
  const holds = new HeldCalls<never>(60);
  registry.register(evalFormTool(image, new ReplHistory(undefined), { places, holds }));
  registry.register(debugTool(image, holds, places));
  registry.register(inspectTool(image));
  registry.register(getLastErrorTool(image, places));
  registry.register(imageStatusTool(image, undefined));
  const executor = new Executor(registry);
  const call: Caller['call'] = async (name, args = {}) => {
    const outcome = await executor.execute(name, args);
    const text = outcome.success ? outcome.text : outcome.error;
    return { text, notices: outcome.notices, isError: !outcome.success };
  };
  const text: Caller['text'] = async (name, args) => (await call(name, args)).text;
  return { call, text, eval: (form, more = {}) => text('eval_form', { form, ...more }) };
}

/** Resolves with what calls tools in an SBCL in FOLDER, which ends when it is closed. */
export async function attachedCaller(folder: string): Promise<Caller> {
  const serving = temporaryFolder();
  const { sbcl, socket } = await startSbcl(serving.path, { cwd: folder, silent: true });
  const served = described(serving.path, `sbcl-${sbcl.pid}`, { socket });
  const image = new AttachedImage({ find: async () => served, attachLine: '', limitMs: 60_000 });
  return {
    ...toolCaller(image, folder),
    close: async () => {
      await image.end();
      sbcl.kill('SIGKILL');
      serving.remove();
    },
  };
}
