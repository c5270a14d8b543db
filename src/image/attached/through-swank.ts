// Finds the image that a Swank or Slynk serves, and makes it load the agent if it has not done so. A new thread in the
// image loads the agent and writes the outcome to a file. So the connection to Swank can be closed at once.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { SetupError } from '../../errors.ts';
import { readIfRegular } from '../../files/regular.ts';
import { isRunning } from '../../ownership.ts';
import { homeFolder } from '../../paths.ts';
import { withTemporaryFolder } from '../../temporary-folder.ts';
import { type Served, servedName } from '../wire/served.ts';
import { TIMES, type Times } from '../wire/times.ts';
import { listeningImages, servedImages } from './serving.ts';
import { type Datum, memberOf, type SwankAddress, SwankError, stringOf, withSwank } from './swank.ts';

interface ThroughSwankOptions {
  address: SwankAddress;
  /** The folder with the sockets of images that accept servers. */
  folder: string | undefined;
  /** The form that makes an image accept servers, for error messages. */
  line: string;
  /** The same form, with package prefixes, so that it can be read in any package. */
  qualifiedLine: string;
  /** Returns the reason why live-lisp does not support an SBCL that has `facts`, followed by the text `remedy`. Returns
   * undefined when it is supported. */
  whyUnsupported: (
    facts: { version: string; bits: number; features: string[] },
    remedy: string,
  ) => string | undefined;
  times?: Times;
}

interface Lisp {
  pid: number;
  kind: string;
  version: string;
  features: string[];
}

/** The name of the thread that loads the agent. If two servers want to start it at the same time, only one of them
 * does. */
const THREAD = 'live-lisp line';
/** The beginnings of the last line that the thread writes: after success, and after a failure. */
const [SERVES, FAILED] = ['LIVE-LISP SERVES', 'LIVE-LISP FAILED'] as const;
/** Maximum number of octets that are read of the file in which the loading thread writes its output. */
const OUTPUT_LIMIT = 1024 * 1024;
/** Milliseconds between two reads of this file. */
const LOOK_MS = 20;
/** Milliseconds after which the image is asked again, when the agent is already being loaded there for another
 * server. */
const OTHER_MS = 1000;
const SECRET_LIMIT = 4096;

export class ThroughSwank {
  readonly #options: ThroughSwankOptions;
  readonly #times: Times;
  #found: Served | undefined;

  constructor(options: ThroughSwankOptions) {
    this.#options = options;
    this.#times = options.times ?? TIMES;
  }

  /** Resolves with the image that Swank serves, when it accepts servers. Throws a SetupError when it cannot accept
   * servers. */
  async find(): Promise<Served> {
    const before = this.#found && isRunning(this.#found.pid) ? this.#found : undefined;
    const served = (before && (await this.#servedBy(before.pid))) ?? (await this.#attach(before));
    this.#found = { ...served, through: swankName(this.#options.address) };
    return this.#found;
  }

  /** Returns the image of the process PID; undefined when servers cannot attach to it. */
  async #servedBy(pid: number): Promise<Served | undefined> {
    const { images } = servedImages(this.#options.folder);
    const [image] = await listeningImages(images.filter((each) => each.pid === pid));
    return image;
  }

  /** Makes the Lisp that Swank serves load the agent, if necessary, and resolves with the image. BEFORE is the image
   * that was found earlier; undefined when there is none. If its process is still that Lisp but no longer accepts
   * servers, its user has removed the agent. Then throws a SetupError. */
  #attach(before: Served | undefined): Promise<Served> {
    return withTemporaryFolder(async (folder) => {
      const deadline = performance.now() + this.#times.compile;
      for (;;) {
        const { lisp, served, loads } = await this.#ask(folder, before);
        if (served !== undefined) return served;
        if (loads) return this.#loaded(lisp, join(folder, 'output'), deadline);
        if (performance.now() > deadline) throw new SetupError(this.#slowText(lisp));
        await pause(OTHER_MS);
      }
    });
  }

  /** Asks Swank for the facts about its Lisp, and starts the loading thread there if necessary. FOLDER is an empty
   * folder. In the result, `loads` is true when this call has started the thread. It is false when the image accepts
   * servers already, and when another server has started such a thread. */
  async #ask(
    folder: string,
    before: Served | undefined,
    isRetry = false,
  ): Promise<{ lisp: Lisp; served?: Served | undefined; loads: boolean }> {
    const { address, qualifiedLine } = this.#options;
    const sign = join(folder, 'sign');
    writeFileSync(sign, '');
    const secret = secretOf(address);
    try {
      return await withSwank(
        address,
        { secret: secret.text, limitMs: this.#times.greeting },
        async (evaluate) => {
          const lisp = this.#checked(await evaluate(`(${address.kind}:connection-info)`));
          // Behind a tunnel, the Lisp is on another machine, and an unrelated process here can have the same id. So the
          // Lisp is asked whether it sees a file of this machine.
          if (
            (await evaluate(
              plainForm(`(cl:and (cl:ignore-errors (cl:probe-file ${pathForm(sign)})) cl:t)`),
            )) !== 't'
          )
            throw new SetupError(this.#elsewhereText(lisp));
          const served = await this.#servedBy(lisp.pid);
          if (served !== undefined) return { lisp, served, loads: false };
          if (lisp.pid === before?.pid) throw new SetupError(this.#stoppedText(before));
          const loads = await evaluate(plainForm(loadForm(qualifiedLine, join(folder, 'output'))));
          return { lisp, loads: loads === 't' };
        },
      );
    } catch (error) {
      if (!(error instanceof SwankError)) throw error;
      if (error.why !== 'aborted' || isRetry) throw new SetupError(this.#failureText(error, secret));
    }
    // An evaluation can fail because another thread deletes packages at the same time, as (live-lisp:stop) does.
    await pause(OTHER_MS);
    return this.#ask(folder, before, true);
  }

  /** Returns the Lisp that INFO, Swank's answer to connection-info, describes. Throws a SetupError when the agent
   * cannot run in it. */
  #checked(info: Datum): Lisp {
    const implementation = memberOf(info, ':lisp-implementation');
    const features = memberOf(info, ':features');
    const lisp = {
      pid: Number(memberOf(info, ':pid')),
      kind: stringOf(memberOf(implementation, ':type')),
      version: stringOf(memberOf(implementation, ':version')),
      features: Array.isArray(features) ? features.map((name) => String(name).slice(1).toUpperCase()) : [],
    };
    if (!(Number.isSafeInteger(lisp.pid) && lisp.pid > 0))
      throw new SwankError('foreign', 'it tells no process');
    if (lisp.kind !== 'SBCL') throw new SetupError(this.#otherLispText(lisp));
    const bits = lisp.features.includes('64-BIT') ? 64 : 32;
    const why = this.#options.whyUnsupported(
      { ...lisp, bits },
      'Ask the user to run the image with another (https://www.sbcl.org/platform-table.html).',
    );
    if (why !== undefined) throw new SetupError(`${this.#lispName(lisp)} cannot be used. ${why}`);
    return lisp;
  }

  /** Reads OUTPUT again and again, until it says that the image accepts servers. OUTPUT is the file of the thread that
   * loads the agent into LISP. Resolves with the image. Throws a SetupError when the load fails, when the process ends,
   * or when DEADLINE has passed. */
  async #loaded(lisp: Lisp, output: string, deadline: number): Promise<Served> {
    for (;;) {
      const ended = !isRunning(lisp.pid);
      const text = readIfRegular(output, { limit: OUTPUT_LIMIT })?.octets.toString() ?? '';
      const [, how, why = ''] = text.match(OUTCOME) ?? [];
      if (how === FAILED) throw new SetupError(this.#failedText(lisp, why));
      if (how === SERVES) {
        const served = await this.#servedBy(lisp.pid);
        if (served !== undefined) return served;
        throw new SetupError(this.#notHereText(lisp));
      }
      if (ended) throw new SetupError(this.#failedText(lisp, 'its process ended meanwhile'));
      if (performance.now() > deadline) throw new SetupError(this.#slowText(lisp));
      await pause(LOOK_MS);
    }
  }

  get #url(): string {
    return swankUrl(this.#options.address);
  }

  #lispName({ kind, version, pid }: Lisp): string {
    return `The Lisp behind ${this.#url} (${shown(kind)} ${shown(version)}, pid ${pid})`;
  }

  #failureText({ why, message }: SwankError, secret: Secret): string {
    const { kind, host, port } = this.#options.address;
    const start = `(${kind}:create-server :port ${port} :dont-close t)`;
    const url = this.#url;
    switch (why) {
      case 'unreachable':
        return `${url} cannot be reached, so nothing was run: ${message}. Ask the user to evaluate ${start} in their image, or to correct the port in --image, then call again.`;
      case 'closed':
        return `${url} closed the connection before it answered, so nothing was run. It may be something else than ${NAMES[kind]}, ${secret.doubt}. Ask the user which, then call again.`;
      case 'silent':
        return `${url} takes connections and did not answer in ${this.#times.greeting / 1000} s, so nothing was run. It may be busy, something else than ${NAMES[kind]}, ${secret.doubt}. Ask the user which, then call again.`;
      case 'foreign':
        return `${url} is not ${NAMES[kind]}: ${message}. So nothing was run. Ask the user for the port that ${start.replace(String(port), 'PORT')} was given, and to start this server with --image ${kind}://${host}:PORT.`;
      case 'unreadable':
      case 'aborted':
        return `${url} does not do what ${NAMES[kind]} does, so nothing was run. Its answer is an error: ${JSON.stringify(shown(message))}. Ask the user whether it is ${NAMES[kind === 'swank' ? 'slynk' : 'swank']}, and to correct --image.`;
    }
  }

  #elsewhereText(lisp: Lisp): string {
    return `${this.#lispName(lisp)} does not see the files of this server, so nothing was loaded into it. It is on another machine, as behind a tunnel of ssh, in a container, or of another user. Ask the user to give it the line that live-lisp attach prints there, and to start this server with --image NAME='ssh -T HOST live-lisp dial'.`;
  }

  #otherLispText(lisp: Lisp): string {
    return `${this.#lispName(lisp)} is not SBCL, in which alone live-lisp works, so nothing was loaded into it. Ask the user to run the program in SBCL, or to start this server without --image ${this.#url}.`;
  }

  #failedText(lisp: Lisp, why: string): string {
    return `${this.#lispName(lisp)} could not load live-lisp: ${shown(why).replace(/\.$/, '')}. Ask the user to mend that, then call again. In its REPL this line does the same: ${this.#options.line}`;
  }

  #slowText(lisp: Lisp): string {
    return `${this.#lispName(lisp)} has not loaded live-lisp in ${this.#times.compile / 1000} s. Ask the user what it does, and to give this line in its REPL, then call again: ${this.#options.line}`;
  }

  #notHereText(lisp: Lisp): string {
    return `${this.#lispName(lisp)} has loaded live-lisp, and does not serve in ${this.#options.folder}. Ask the user to start this server and that Lisp with the same LIVE_LISP_SERVING. In a container it serves there only; then --image NAME='docker exec -i CONTAINER live-lisp dial' leads to it.`;
  }

  #stoppedText(image: Served): string {
    return `The image ${servedName(image)}, in which this session worked, serves no more: somebody has taken live-lisp out of it, so it was not loaded again. Ask the user to give this line in its REPL, then call again: ${this.#options.line}`;
  }
}

const OUTCOME = new RegExp(`^(${SERVES}|${FAILED}) ?([\\s\\S]*)\\n$`, 'm');

const NAMES = { swank: 'Swank', slynk: 'Slynk' } as const;

function swankUrl({ kind, host, port }: SwankAddress): string {
  return `${kind}://${host}:${port}`;
}

function swankName({ kind, host, port }: SwankAddress): string {
  return `${NAMES[kind]} at ${host}:${port}`;
}

/** The user's secret for Swank. `doubt` is a clause for the case that Swank does not answer: the secret may be wrong or
 * missing. */
interface Secret {
  text: string | undefined;
  doubt: string;
}

function secretOf({ kind }: SwankAddress): Secret {
  const file = join(homeFolder() ?? '/', kind === 'swank' ? '.slime-secret' : '.sly-secret');
  const found = readIfRegular(file, { limit: SECRET_LIMIT });
  return {
    text: found?.octets.toString().split('\n', 1).join(),
    doubt:
      found === undefined
        ? `or expect a secret that this server lacks: there is no ${file}`
        : `or expect another secret than that in ${file}`,
  };
}

/** Returns a form that starts the loading thread, which evaluates LINE and writes the outcome to the file OUTPUT. The
 * value of the form is T, or NIL when such a thread already runs. The form interns no symbols, and its thread never
 * enters the debugger. */
function loadForm(line: string, output: string): string {
  return `(cl:unless (cl:find "${THREAD}" (sb-thread:list-all-threads)
                     :key (cl:function sb-thread:thread-name) :test (cl:function cl:equal))
  (sb-thread:make-thread
    (cl:lambda ()
      (cl:with-open-file (cl:*standard-output* ${pathForm(output)} :direction :output :external-format :utf-8)
        (cl:let ((cl:*error-output* cl:*standard-output*) (cl:*break-on-signals* cl:nil))
          (cl:handler-case ${line}
            (cl:serious-condition (#1=#:failure)
              (cl:format cl:t "~&${FAILED} ~A~%"
                         (cl:or (cl:ignore-errors (cl:princ-to-string #1#)) (cl:type-of #1#))))
            (:no-error (cl:&rest #2=#:values)
              (cl:declare (cl:ignore #2#))
              (cl:format cl:t "~&${SERVES}~%"))))))
    :name "${THREAD}")
  cl:t)`;
}

function pathForm(path: string): string {
  return `(sb-ext:parse-native-namestring ${stringForm(path)})`;
}

/** Returns a form that reads FORM with SBCL's own reader and evaluates it. The reader of Slynk cannot read #, or forms
 * of several lines. Nor can a reader that Swank can be configured to use. */
function plainForm(form: string): string {
  return `(cl:with-standard-io-syntax (cl:eval (cl:read-from-string ${stringForm(form)})))`;
}

function stringForm(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&')}"`;
}

function shown(text: string): string {
  const line = text.replace(/[\s\p{C}\p{Z}]+/gu, ' ').trim();
  return line.length > 300 ? `${line.slice(0, 300)} ...` : line;
}
