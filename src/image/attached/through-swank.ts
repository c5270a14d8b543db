// Finds the image that a Swank or Slynk serves, and makes it load the backend, the Lisp side of live-lisp, if it has
// not done so. A new thread in the image loads the backend and writes the outcome to a file. So the connection to Swank
// can be closed at once.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { SetupError } from '../../errors.ts';
import { readIfRegular } from '../../files/regular.ts';
import { isRunning } from '../../ownership.ts';
import { homeFolder } from '../../paths.ts';
import { withTemporaryFolder } from '../../temporary-folder.ts';
import type { Served } from '../wire/served.ts';
import { TIMES, type Times } from '../wire/times.ts';
import { listeningImages, servedImages } from './serving.ts';
import { type Datum, memberOf, type SwankAddress, SwankError, stringOf, withSwank } from './swank.ts';
import { type Lisp, type Secret, SwankTexts, swankName } from './swank-texts.ts';

interface ThroughSwankOptions {
  address: SwankAddress;
  /** The folder with the sockets of images that servers can attach to; undefined when this user has no home
   * folder. */
  folder: string | undefined;
  /** The form that makes an image accept connections from servers, for error messages. */
  attachLine: string;
  /** The same form, with package prefixes, so that it can be read in any package. */
  qualifiedAttachLine: string;
  /** Returns the reason why live-lisp does not support an SBCL that has `facts`, followed by the text `remedy`. Returns
   * undefined when it is supported. */
  whyUnsupported: (
    facts: { version: string; bits: number; features: string[] },
    remedy: string,
  ) => string | undefined;
  times?: Times;
}

/** The name of the thread that loads the backend. If two servers want to start it at the same time, only one of them
 * does. */
const THREAD = 'live-lisp line';
/** The beginnings of the last line that the thread writes: after success, and after a failure. */
const [SERVES, FAILED] = ['LIVE-LISP SERVES', 'LIVE-LISP FAILED'] as const;
const OUTCOME = new RegExp(`^(${SERVES}|${FAILED}) ?([\\s\\S]*)\\n$`, 'm');
/** Maximum number of octets that are read of the file in which the loading thread writes its output. */
const OUTPUT_LIMIT = 1024 * 1024;
/** Milliseconds between two reads of this file. */
const LOOK_MS = 20;
/** Milliseconds between two questions to an image that is already loading the backend for another server. */
const OTHER_MS = 1000;
const SECRET_LIMIT = 4096;

export class ThroughSwank {
  readonly #options: ThroughSwankOptions;
  readonly #times: Times;
  readonly #texts: SwankTexts;
  #found: Served | undefined;

  constructor(options: ThroughSwankOptions) {
    this.#options = options;
    this.#times = options.times ?? TIMES;
    this.#texts = new SwankTexts(options.address, options.folder, options.attachLine, this.#times);
  }

  /** Resolves with the image that Swank serves, when servers can attach to it. Throws a SetupError when they
   * cannot. */
  async find(): Promise<Served> {
    const before = this.#found && isRunning(this.#found.pid) ? this.#found : undefined;
    const served = (before && (await this.#servedBy(before.pid))) ?? (await this.#attach(before));
    this.#found = { ...served, through: swankName(this.#options.address) };
    return this.#found;
  }

  /** Returns the image of the process PID; undefined when this image does not accept connections from servers. */
  async #servedBy(pid: number): Promise<Served | undefined> {
    const { images } = servedImages(this.#options.folder);
    const [image] = await listeningImages(images.filter((each) => each.pid === pid));
    return image;
  }

  /** Makes the Lisp that Swank serves load the backend, if necessary, and resolves with the image. BEFORE is the image
   * that was found earlier; undefined when there is none. Throws a SetupError when this Lisp still runs in the process
   * of BEFORE, but accepts no servers: then the user has removed the backend on purpose. */
  #attach(before: Served | undefined): Promise<Served> {
    return withTemporaryFolder(async (folder) => {
      const deadline = performance.now() + this.#times.compile;
      for (;;) {
        const { lisp, served, hasStarted } = await this.#ask(folder, before);
        if (served !== undefined) return served;
        if (hasStarted) return this.#loaded(lisp, join(folder, 'output'), deadline);
        if (performance.now() > deadline) throw new SetupError(this.#texts.slowText(lisp));
        await pause(OTHER_MS);
      }
    });
  }

  /** Asks Swank about its Lisp. If the backend is not loaded there, starts a thread that loads it. FOLDER is an empty
   * folder, in which that thread writes its output. BEFORE is the image that was found earlier. IS_RETRY is true in the
   * second attempt, after Swank aborted an evaluation. In the result, `served` is the image, when it already accepts
   * servers. `hasStarted` is true when this call has started the thread, and false when another server has. */
  async #ask(
    folder: string,
    before: Served | undefined,
    isRetry = false,
  ): Promise<{ lisp: Lisp; served?: Served | undefined; hasStarted: boolean }> {
    const { address, qualifiedAttachLine } = this.#options;
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
          const seesSign = await evaluate(
            plainForm(`(cl:and (cl:ignore-errors (cl:probe-file ${pathForm(sign)})) cl:t)`),
          );
          if (seesSign !== 't') throw new SetupError(this.#texts.elsewhereText(lisp));
          const served = await this.#servedBy(lisp.pid);
          if (served !== undefined) return { lisp, served, hasStarted: false };
          if (lisp.pid === before?.pid) throw new SetupError(this.#texts.stoppedText(before));
          const started = await evaluate(plainForm(loadForm(qualifiedAttachLine, join(folder, 'output'))));
          return { lisp, hasStarted: started === 't' };
        },
      );
    } catch (error) {
      if (!(error instanceof SwankError)) throw error;
      if (error.why !== 'aborted' || isRetry) throw new SetupError(this.#texts.failureText(error, secret));
    }
    // An evaluation can fail because another thread deletes packages at the same time, as (live-lisp:stop) does.
    await pause(OTHER_MS);
    return this.#ask(folder, before, true);
  }

  /** Returns the Lisp that INFO, Swank's answer to connection-info, describes. Throws a SetupError when the backend
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
      throw new SwankError('foreign', 'it did not tell its process id');
    if (lisp.kind !== 'SBCL') throw new SetupError(this.#texts.otherLispText(lisp));
    const bits = lisp.features.includes('64-BIT') ? 64 : 32;
    const why = this.#options.whyUnsupported(
      { ...lisp, bits },
      'Ask the user to run the image in another SBCL (https://www.sbcl.org/platform-table.html).',
    );
    if (why !== undefined) throw new SetupError(`${this.#texts.lispName(lisp)} cannot be used. ${why}`);
    return lisp;
  }

  /** Reads OUTPUT again and again, until it says that the image accepts connections from servers. OUTPUT is the file of
   * the thread that loads the backend into LISP. Resolves with the image. Throws a SetupError when the load fails, when
   * the process ends, or when DEADLINE has passed. */
  async #loaded(lisp: Lisp, output: string, deadline: number): Promise<Served> {
    for (;;) {
      // Checked before the file is read, which then has all that an ended process wrote.
      const ended = !isRunning(lisp.pid);
      const text = readIfRegular(output, { limit: OUTPUT_LIMIT })?.octets.toString() ?? '';
      const [, how, why = ''] = text.match(OUTCOME) ?? [];
      if (how === FAILED) throw new SetupError(this.#texts.failedText(lisp, why));
      if (how === SERVES) {
        const served = await this.#servedBy(lisp.pid);
        if (served !== undefined) return served;
        throw new SetupError(this.#texts.notHereText(lisp));
      }
      if (ended) throw new SetupError(this.#texts.failedText(lisp, 'its process ended meanwhile'));
      if (performance.now() > deadline) throw new SetupError(this.#texts.slowText(lisp));
      await pause(LOOK_MS);
    }
  }
}

function secretOf({ kind }: SwankAddress): Secret {
  const file = join(homeFolder() ?? '/', kind === 'swank' ? '.slime-secret' : '.sly-secret');
  const found = readIfRegular(file, { limit: SECRET_LIMIT });
  return {
    text: found?.octets.toString().split('\n', 1).join(),
    doubt:
      found === undefined
        ? `or expect a secret that this server lacks (there is no ${file})`
        : `or expect a secret other than the one in ${file}`,
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

/** Returns a form that reads FORM with SBCL's own reader and evaluates it. Slynk's reader can read neither # nor a form
 * of several lines. A reader that the user has configured for Swank may have the same limits. */
function plainForm(form: string): string {
  return `(cl:with-standard-io-syntax (cl:eval (cl:read-from-string ${stringForm(form)})))`;
}

function stringForm(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&')}"`;
}
