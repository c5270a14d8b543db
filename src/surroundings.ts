// Decides whether this version of Node and this system can run the program. An old version of Node must be able to read
// this file, so it imports nothing.

/** The versions of Node that have all functions which the program uses, as a phrase. */
const NEEDED = '20.19, 22.2 or newer';

function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return (major === 20 && minor >= 19) || (major === 22 && minor >= 2) || major > 22;
}

/** Returns a sentence that says why the program cannot run with the VERSION of Node on PLATFORM; undefined when it
 * can. */
export function obstacleHere(version: string, platform: string): string | undefined {
  if (platform === 'win32') {
    return 'Windows itself cannot run live-lisp: use WSL, or Docker with the Dockerfile of live-lisp (docs/install.md).';
  }
  if (isNewEnough(version)) return undefined;
  return `This is Node ${version}, and live-lisp needs Node ${NEEDED}: install one (https://nodejs.org) and start live-lisp with it.`;
}
