// Decides how the machine of a run is named: enough to judge the figures, nothing that tells whose it is.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { arch, availableParallelism, loadavg, release, type } from 'node:os';

/** Returns the machine, the versions and the date in one line. */
export function describeMachine() {
  const cores = availableParallelism();
  return [
    `${cores} CPU${cores === 1 ? '' : 's'} (${arch()})`,
    systemName(),
    `Node.js ${process.versions.node}`,
    sbclVersion(),
    new Date().toISOString().slice(0, 10),
  ].join(', ');
}

/** Returns how many threads ran or could have run in the last minute, as text. */
export function loadNow() {
  return (loadavg()[0] ?? 0).toFixed(1);
}

/** Returns the name and version of SBCL, which is the program that the tests use unless another is given. */
export function sbclVersion(sbcl = process.env.LIVE_LISP_SBCL || 'sbcl') {
  try {
    return execFileSync(sbcl, ['--version'], { encoding: 'utf8' }).trim();
  } catch (error) {
    throw new Error(`The bench needs SBCL, and ${sbcl} could not be run.`, { cause: error });
  }
}

function systemName() {
  try {
    return /^PRETTY_NAME="?(.*?)"?$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? type();
  } catch {
    return `${type()} ${release()}`;
  }
}
