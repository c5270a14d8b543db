// Decides which bubblewrap locks images in, whether it works here, and what to say when it does not.

import { execFile } from 'node:child_process';
import { dirname } from 'node:path';
import { programsOf, realPath } from '../../paths.ts';
import type { Command } from '../process/command.ts';
import { installCommand } from '../process/sbcl.ts';
import { isIn } from './mounts.ts';

/** Why images cannot be locked in, as part of a sentence, and what a person can do about it, as sentences. */
export interface Obstacle {
  why: string;
  remedy: string;
}

const TRIAL_LIMIT_MS = 10_000;

/** Returns the bwrap on PATH that is in none of FOLDERS: what an image can write must not lock it in. */
export function findBubblewrap(folders: readonly string[], path?: string): string | undefined {
  return programsOf('bwrap', path).find(
    (program) => !isIn(folders, realPath(program)) && !isIn(folders, realPath(dirname(program))),
  );
}

/** Returns what to say where there is no bubblewrap. */
export function missingBubblewrap(
  platform: string = process.platform,
  command: string | undefined = installCommand('bubblewrap'),
): Obstacle {
  if (platform !== 'linux') {
    return {
      why: 'bubblewrap exists for Linux only',
      remedy: 'Ask the user to start the server without --sandbox, in a container or a virtual machine.',
    };
  }
  return {
    why: 'bubblewrap is not installed (there is no bwrap on PATH outside the workspace)',
    remedy: `Ask the user to install it: ${command ?? 'https://github.com/containers/bubblewrap'}. Then call again; the server need not be restarted.`,
  };
}

/** Runs COMMAND, which has bubblewrap run a program that does nothing, and returns what is in the way, if
 *  anything is. */
export function obstacleOf({ program, args, env }: Command): Promise<Obstacle | undefined> {
  return new Promise((resolve) => {
    execFile(program, args, { env, timeout: TRIAL_LIMIT_MS, killSignal: 'SIGKILL' }, (error, _, stderr) => {
      resolve(error === null ? undefined : failure(stderr.trim() || error.message));
    });
  });
}

function failure(said: string): Obstacle {
  if (/unknown option/i.test(said)) {
    return {
      why: `bubblewrap is older than 0.8 (${said})`,
      remedy:
        'Ask the user to install a newer one, or to start the server without --sandbox, in a container or as another user.',
    };
  }
  const namespaces = /namespace|uid map|gid map/i.test(said);
  return {
    why: namespaces ? `this system does not allow user namespaces (${said})` : `bubblewrap fails (${said})`,
    remedy: namespaces
      ? 'Ask the user to allow them, or to start the server without --sandbox, in a container or as another user. What allows them is sysctl kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0 or user.max_user_namespaces, whichever the system has.'
      : 'Ask the user to start the server without --sandbox, in a container or as another user.',
  };
}
