// Connects to an image that somebody else runs, through a command that forwards its messages, such as `ssh -T host
// live-lisp dial`.

import { spawn } from 'node:child_process';
import type { Duplex } from 'node:stream';
import { SetupError } from '../../errors.ts';
import type { Times } from '../wire/times.ts';
import { Bootstrap } from './bootstrap.ts';
import { commandOf, type ImageCommand, notStartedText } from './image-command.ts';

/** A connection to an image that somebody else runs. */
export interface CommandWire {
  /** The description of the image, as JSON, that the other side has sent. */
  entry: string;
  stream: Duplex;
  /** Returns the reason why the command has ended, as part of a sentence; undefined while it runs. */
  ended(): string | undefined;
}

/** Starts the command of IMAGE in the folder CWD. Resolves with the connection to the image that answers, which
 * somebody else runs. Rejects with a SetupError when no such image answers. */
export function openCommandWire(image: ImageCommand, cwd: string, times: Times): Promise<CommandWire> {
  const { program, args, env } = commandOf(image);
  const process = spawn(program, args, { cwd, env, stdio: ['pipe', 'pipe', 'pipe'], detached: true });
  let end: string | undefined;
  return new Promise((resolve, reject) => {
    const fail = (failed: { problem?: string; remedy?: string; exitCode?: number; spawnError?: string }) => {
      process.kill('SIGKILL');
      const { problem, remedy, exitCode, spawnError } = failed;
      const { lastLines } = bootstrap;
      reject(new SetupError(notStartedText(image, { problem, remedy, exitCode, spawnError, lastLines })));
    };
    const bootstrap = new Bootstrap(
      process,
      {
        forms: () => {
          fail({ problem: 'starts a new SBCL; before, it connected to a running image' });
          return '';
        },
        refusal: () => undefined,
        sources: () => Buffer.alloc(0),
        dialled: (entry) => {
          bootstrap.stop();
          resolve({ entry, stream: bootstrap.wire, ended: () => end });
        },
        failed: (problem, remedy) => fail({ problem, ...(remedy !== undefined && { remedy }) }),
      },
      times,
    );
    process.on('error', ({ message }) => fail({ spawnError: message }));
    process.on('exit', (exitCode, signal) => {
      const how = exitCode === null ? `was ended by ${signal}` : `exited with code ${exitCode}`;
      // Before the failure is reported, the last output is read.
      setTimeout(() => {
        const lastOutput = bootstrap.lastLines.join(' / ');
        end = `its command ${how}${lastOutput === '' ? '' : `; its last output was: ${lastOutput}`}`;
        bootstrap.stop();
        fail(exitCode === null ? {} : { exitCode });
        bootstrap.wire.destroy();
      }, times.lastWords);
    });
    const killSoon = () => setTimeout(() => process.kill('SIGKILL'), times.outputEnded).unref();
    process.stdout.on('end', killSoon);
    // A command usually ends when its stdin or stdout ends. If it does not, it is killed.
    bootstrap.wire.on('close', killSoon);
  });
}
