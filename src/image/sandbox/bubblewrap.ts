// Finds bubblewrap and tests whether it works on this system. Gives advice when it does not.

import { execFile, spawnSync } from 'node:child_process';
import { dirname } from 'node:path';
import { programsOf, realPath } from '../../paths.ts';
import type { ProcessCommand } from '../process/command.ts';
import { installCommand } from '../process/sbcl.ts';
import { isIn } from './mounts.ts';

/** The reason why images cannot run in a sandbox, and advice. */
export interface Obstacle {
  /** The reason, as part of a sentence. */
  why: string;
  /** The advice, as complete sentences. */
  remedy: string;
}

/** Milliseconds in which a trial of bubblewrap must end. The first image waits for the trial. It takes 7 ms; the limit
 * is long because a trial that is too slow on a busy machine would leave the image without a sandbox. */
const TRIAL_LIMIT_MS = 20_000;
/** Exit code of a trial in which a folder of the workspace could not be written. */
const CANNOT_WRITE = 9;

/** Returns the path of the first bwrap on PATH that is outside FOLDERS; undefined when there is none. Code in an image
 * could replace a bwrap in one of FOLDERS. */
export function findBubblewrap(folders: readonly string[]): string | undefined {
  return programsOf('bwrap').find(
    (program) => !isIn(folders, realPath(program)) && !isIn(folders, realPath(dirname(program))),
  );
}

/** Returns the Obstacle for a system on which bubblewrap is not installed. */
export function missingBubblewrap(platform: string = process.platform): Obstacle {
  if (platform !== 'linux') {
    return {
      why: 'bubblewrap exists for Linux only',
      remedy: 'To confine code on this system, run the server in a container or a virtual machine.',
    };
  }
  return {
    why: 'bubblewrap is not installed (there is no bwrap on PATH outside the workspace)',
    remedy: `Ask the user to install it: ${installCommand('bubblewrap') ?? 'https://github.com/containers/bubblewrap'}. Then start the server again.`,
  };
}

/** Returns the Obstacle for a kind of processor for which live-lisp has no filter of system calls. */
export function unknownProcessor(): Obstacle {
  return {
    why: `there is no system-call filter for this kind of processor (${process.arch})`,
    remedy: 'To confine code on this system, run the server in a container or a virtual machine.',
  };
}

interface Trial {
  /** The exit code; null when a signal ended the trial. */
  code: number | null;
  /** The output of the trial to stderr, or another reason why it failed. */
  message: string;
}

/** Runs a command that tries bubblewrap, and blocks until it ends. Returns the obstacle; undefined when bubblewrap
 * works. */
export function obstacleOf({ program, args, env }: ProcessCommand): Obstacle | undefined {
  const { status, signal, stderr, error } = spawnSync(program, args, { ...TRIAL_OPTIONS, env });
  return obstacleIn({
    code: status,
    message: stderr?.trim() || error?.message || exitText(signal ?? status),
  });
}

/** Like obstacleOf, but does not block the main thread. */
export async function obstacleAsync({ program, args, env }: ProcessCommand): Promise<Obstacle | undefined> {
  const trial = await new Promise<Trial>((resolve) => {
    const child = execFile(program, args, { ...TRIAL_OPTIONS, env }, (error, _, stderr) =>
      resolve({
        code: child.exitCode,
        message:
          stderr.trim() ||
          (typeof error?.code === 'string' && error.message) ||
          exitText(error?.signal ?? child.exitCode),
      }),
    );
  });
  return obstacleIn(trial);
}

const TRIAL_OPTIONS = { encoding: 'utf8', timeout: TRIAL_LIMIT_MS, killSignal: 'SIGKILL' } as const;

function exitText(how: NodeJS.Signals | number | null | undefined): string {
  return `it ended with ${how}`;
}

function obstacleIn({ code, message }: Trial): Obstacle | undefined {
  if (code === 0) return undefined;
  return code === CANNOT_WRITE ? NOT_WRITABLE : failure(message);
}

/** The obstacle that the workspace belongs to another user. In a user namespace, not even root can write files of other
 * users. */
const NOT_WRITABLE: Obstacle = {
  why: 'code in the sandbox could not write to the workspace, which belongs to another user',
  remedy: 'Ask the user to start the server as the owner of the workspace.',
};

function failure(message: string): Obstacle {
  if (/unknown option/i.test(message)) {
    return {
      why: `bubblewrap is older than 0.8 (${message})`,
      remedy: 'Ask the user to install a newer one.',
    };
  }
  const namespaces = /namespace|uid map|gid map/i.test(message);
  return {
    why: namespaces
      ? `this system does not allow user namespaces (${message})`
      : `bubblewrap fails (${message})`,
    remedy: namespaces
      ? 'Ask the user to allow them with sysctl: kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0 or user.max_user_namespaces, whichever the system has.'
      : 'Ask the user to fix bubblewrap; live-lisp doctor tests it again.',
  };
}
