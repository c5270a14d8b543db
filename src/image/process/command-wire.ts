// Connects to an image that somebody else runs through a command that forwards its wire, such as `ssh -T host
// live-lisp dial`.

import { spawn } from 'node:child_process';
import type { Duplex } from 'node:stream';
import { SetupError } from '../../errors.ts';
import type { Times } from '../wire/times.ts';
import { Bootstrap } from './bootstrap.ts';
import { commandOf, type ImageCommand, notStartedText } from './image-command.ts';

/** A wire to an image that somebody else runs. */
export interface CommandWire {
  /** The JSON description of the image from the other side. */
  entry: string;
  stream: Duplex;
  /** Returns the reason for the end of the command, as part of a sentence; undefined while the command
   *  runs. */
  ended(): string | undefined;
}

/** Starts the command of IMAGE in the folder CWD. Throws a SetupError when no image that accepts servers
 *  answers. */
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
          fail({ problem: 'leads to a Lisp that does not serve; before, it led to an image that served' });
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
      // Reads the last output before the failure is reported.
      setTimeout(() => {
        const lastOutput = bootstrap.lastLines.join(' / ');
        end = `its command ${how}${lastOutput === '' ? '' : `, and wrote last: ${lastOutput}`}`;
        bootstrap.stop();
        fail(exitCode === null ? {} : { exitCode });
        bootstrap.wire.destroy();
      }, times.lastWords);
    });
    const killSoon = () => setTimeout(() => process.kill('SIGKILL'), times.outputEnded).unref();
    process.stdout.on('end', killSoon);
    // A well-behaved command ends with its stdin or stdout. Others are killed.
    bootstrap.wire.on('close', killSoon);
  });
}
