// Implements the command `image`: an SBCL with its REPL in this terminal, which agents can connect to, and which shows
// what they do.

import { spawn } from 'node:child_process';
import { attachLine } from '../attach.ts';
import type { Config } from '../config.ts';
import { SetupError, UsageError } from '../errors.ts';
import { findSbcl } from '../image/process/sbcl.ts';
import { sessionsFolder } from '../paths.ts';
import { Screen } from './screen.ts';
import { Watcher } from './watcher.ts';

/** Runs the SBCL that CONFIG names, in this terminal, and makes it accept connections from servers. Its folder is the
 * `root` of CONFIG, and its options are the `operands` of CONFIG. Resolves with SBCL's exit code when it ends. */
export function runTerminalImage(config: Config): Promise<number> {
  const { root, serving, sbcl, operands } = config;
  if (!process.stdin.isTTY || !process.stdout.isTTY)
    throw new UsageError(
      'live-lisp image works only in a terminal. Elsewhere start sbcl yourself, and enter the line that live-lisp attach prints.',
    );
  if (serving === undefined)
    throw new SetupError(
      'There is no home folder, so no agent would find the image. Set LIVE_LISP_SERVING to a folder.',
    );
  const [program, forms] = [findSbcl(sbcl), ['--eval', attachLine()]];
  // As a session leader, SBCL has no terminal. Its debugger therefore also reads the lines that this process passes on.
  const image = spawn(program, [...operands, ...forms], { cwd: root, detached: true });
  const screen = new Screen({
    line: (text) => watcher.take(text) || image.stdin.write(`${text}\n`),
    interrupt: () => image.kill('SIGINT'),
    end: () => image.stdin.end(),
  });
  const watcher = new Watcher(sessionsFolder(serving), root, (lines) => screen.show(lines));
  image.stdin.on('error', () => {}); // The image has ended, and the event 'exit' follows.
  for (const stream of [image.stdout, image.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => screen.write(text));
  for (const signal of ['SIGHUP', 'SIGTERM'] as const) process.on(signal, () => image.kill(signal));
  screen.show([
    ';; This terminal shows what agents do in this image, and asks for your approval when a call needs it.',
  ]);
  watcher.begin();
  return new Promise((resolve, reject) => {
    image.on('error', (error) => reject(new SetupError(`${program} cannot be started: ${error.message}.`)));
    image.on('close', (code) => {
      screen.close();
      resolve(code ?? 1);
    });
  });
}
