// An SBCL that somebody else runs, here a test: its agent serves the wire on a socket.

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { AttachedImage } from '../../src/image/attached/attached-image.ts';
import { agentCommand } from '../../src/image/process/agent.ts';
import { HeldCalls } from '../../src/image/session/held.ts';
import { Executor } from '../../src/kernel/executor.ts';
import { ToolRegistry } from '../../src/kernel/registry.ts';
import { cacheFolder } from '../../src/paths.ts';
import { ReplHistory } from '../../src/records/repl-history.ts';
import { evalForm } from '../../src/tools/execution/evaluation.ts';
import { Places } from '../../src/tools/places.ts';
import { type Caller, PROJECT, testSbcl } from '../harness.ts';
import { until } from '../server/processes.ts';

/** Starts an SBCL in FOLDER that loads the agent, compiled as it is, and serves it on SOCKET, as a person would in a REPL.
 *  With SILENT nobody sees what it writes to its standard error. */
export async function startSbcl(
  socket: string,
  { folder, silent = false }: { folder?: string; silent?: boolean } = {},
): Promise<ChildProcess> {
  const options = {
    lispFolder: join(PROJECT, 'lisp'),
    cacheFolder: cacheFolder(),
    root: PROJECT,
    heapMb: 1024,
    trees: [],
  };
  const { program, env } = agentCommand(testSbcl(), options, true);
  const forms = [
    '(load (format nil "~A-~A.fasl" (sb-ext:posix-getenv "LIVE_LISP_FASL") (lisp-implementation-version)))',
    `(load "${join(PROJECT, 'lisp', 'attached.lisp')}")`,
    `(live-lisp.agent:serve "${socket}")`,
    '(loop (sleep 1))',
  ];
  const args = ['--noinform', '--no-sysinit', '--no-userinit', ...forms.flatMap((form) => ['--eval', form])];
  const sbcl = spawn(program, args, {
    ...(folder && { cwd: folder }),
    env,
    stdio: ['ignore', 'ignore', silent ? 'ignore' : 'inherit'],
  });
  await until('the socket', 60_000, () => existsSync(socket));
  return sbcl;
}

/** Resolves with what calls eval_form in an SBCL in FOLDER, which ends when it is closed. */
export async function attachedCaller(folder: string): Promise<Caller> {
  const socket = join(folder, 'agent');
  const sbcl = await startSbcl(socket, { folder, silent: true });
  const image = new AttachedImage({ socket, limitMs: 60_000 });
  const registry = new ToolRegistry();
  const tools = { places: new Places(folder), holds: new HeldCalls<never>(60) };
  registry.register(evalForm(image, new ReplHistory(undefined), tools));
  const executor = new Executor(registry);
  const call: Caller['call'] = async (name, args = {}) => {
    const outcome = await executor.execute(name, args);
    const text = outcome.success ? outcome.text : outcome.error;
    return { text, notices: outcome.notices, isError: !outcome.success };
  };
  const text: Caller['text'] = async (name, args) => (await call(name, args)).text;
  return {
    call,
    text,
    eval: (form, more = {}) => text('eval_form', { form, ...more }),
    close: async () => {
      await image.end();
      sbcl.kill('SIGKILL');
    },
  };
}
