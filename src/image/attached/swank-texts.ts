// Writes the error messages for failed attempts to attach to an image through Swank or Slynk.

import { type Served, servedName } from '../wire/served.ts';
import type { Times } from '../wire/times.ts';
import type { SwankAddress, SwankError } from './swank.ts';

/** The Lisp that Swank serves. */
export interface Lisp {
  pid: number;
  kind: string;
  version: string;
  features: string[];
}

/** The user's secret for Swank. `doubt` is a clause for the error message when Swank does not answer; it says that the
 * secret may be wrong or missing. */
export interface Secret {
  text: string | undefined;
  doubt: string;
}

const NAMES = { swank: 'Swank', slynk: 'Slynk' } as const;

export function swankName({ kind, host, port }: SwankAddress): string {
  return `${NAMES[kind]} at ${host}:${port}`;
}

export class SwankTexts {
  readonly #address: SwankAddress;
  readonly #folder: string | undefined;
  readonly #attachLine: string;
  readonly #times: Times;

  /** FOLDER is the folder of the sockets on which images accept connections from servers. ATTACH_LINE is the form that
   * makes an image accept connections from servers. */
  constructor(address: SwankAddress, folder: string | undefined, attachLine: string, times: Times) {
    this.#address = address;
    this.#folder = folder;
    this.#attachLine = attachLine;
    this.#times = times;
  }

  get #url(): string {
    const { kind, host, port } = this.#address;
    return `${kind}://${host}:${port}`;
  }

  lispName({ kind, version, pid }: Lisp): string {
    return `The Lisp behind ${this.#url} (${shown(kind)} ${shown(version)}, pid ${pid})`;
  }

  failureText({ why, message }: SwankError, secret: Secret): string {
    const { kind, host, port } = this.#address;
    const start = `(${kind}:create-server :port ${port} :dont-close t)`;
    const url = this.#url;
    switch (why) {
      case 'unreachable':
        return `${url} cannot be reached, so nothing was run: ${message}. Ask the user to evaluate ${start} in their image, or to correct the port in --image, then call again.`;
      case 'closed':
        return `${url} closed the connection before it answered, so nothing was run. It may be something other than ${NAMES[kind]}, ${secret.doubt}. Ask the user which is true, then call again.`;
      case 'silent':
        return `${url} accepted the connection but did not answer in ${this.#times.greeting / 1000} s, so nothing was run. It may be busy, be something other than ${NAMES[kind]}, ${secret.doubt}. Ask the user which is true, then call again.`;
      case 'foreign':
        return `${url} is not ${NAMES[kind]}: ${message}. So nothing was run. Ask the user for the PORT in ${start.replace(String(port), 'PORT')}, and to start this server with --image ${kind}://${host}:PORT.`;
      case 'unreadable':
      case 'aborted':
        return `${url} does not behave like ${NAMES[kind]}, so nothing was run. It answered with an error: ${JSON.stringify(shown(message))}. Ask the user whether it is ${NAMES[kind === 'swank' ? 'slynk' : 'swank']}, and to correct --image.`;
    }
  }

  elsewhereText(lisp: Lisp): string {
    return `${this.lispName(lisp)} cannot read the files of this server, so nothing was loaded into it. It runs on another machine (as behind an ssh tunnel), in a container, or as another user. Ask the user to run live-lisp attach there, to enter the printed line in its REPL, and to start this server with --image NAME='ssh -T HOST live-lisp dial'.`;
  }

  otherLispText(lisp: Lisp): string {
    return `${this.lispName(lisp)} is not SBCL, and live-lisp works only in SBCL, so nothing was loaded into it. Ask the user to run the program in SBCL, or to start this server without --image ${this.#url}.`;
  }

  failedText(lisp: Lisp, why: string): string {
    return `${this.lispName(lisp)} could not load live-lisp: ${shown(why).replace(/\.$/, '')}. Ask the user to fix that, then call again. This line in its REPL also loads live-lisp: ${this.#attachLine}`;
  }

  slowText(lisp: Lisp): string {
    return `${this.lispName(lisp)} has not loaded live-lisp in ${this.#times.compile / 1000} s. Ask the user what it is doing, and to enter this line in its REPL, then call again: ${this.#attachLine}`;
  }

  notHereText(lisp: Lisp): string {
    return `${this.lispName(lisp)} has loaded live-lisp, but does not serve in ${this.#folder}. Ask the user to start this server and that Lisp with the same LIVE_LISP_SERVING. A Lisp in a container serves only there: reach it with --image NAME='docker exec -i CONTAINER live-lisp dial'.`;
  }

  stoppedText(image: Served): string {
    return `Somebody has stopped live-lisp in the image ${servedName(image)}, in which this session worked, so live-lisp was not loaded again. Ask the user to enter this line in its REPL, then call again: ${this.#attachLine}`;
  }
}

function shown(text: string): string {
  const line = text.replace(/[\s\p{C}\p{Z}]+/gu, ' ').trim();
  return line.length > 300 ? `${line.slice(0, 300)} ...` : line;
}
