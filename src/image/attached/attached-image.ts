// Implements the interface Image for an image that somebody else runs. The first call finds the image and connects to
// the backend in it, the Lisp side of live-lisp; so does the next call after the connection is lost. The server never
// starts, ends or rebuilds such an image.

import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { messageOf, SetupError } from '../../errors.ts';
import type { Image, ImageNotice, ImageTools } from '../image.ts';
import { type CallHost, Calls } from '../session/calls.ts';
import type { Jobs } from '../session/jobs.ts';
import { Notices } from '../session/notices.ts';
import { type ImageStatus, imageStatusOf } from '../session/status.ts';
import { Pulse } from '../wire/pulse.ts';
import type { Series } from '../wire/series.ts';
import { isSameImage, type Served, servedName } from '../wire/served.ts';
import { TIMES, type Times } from '../wire/times.ts';
import type { Upcalls } from '../wire/upcalls.ts';
import { AttachedPeer, type BackendConnection, socketConnection } from './attached-peer.ts';

export interface AttachedOptions {
  /** Returns the image to connect to. Throws a SetupError when there is no image that can be used. */
  find: () => Promise<Served>;
  /** Opens a connection to the image; absent for a connection to its socket. */
  connect?: (served: Served) => BackendConnection;
  /** The form that a user enters in the REPL of an image to make it accept connections from servers; for error
   * messages. */
  attachLine: string;
  /** Maximum number of milliseconds that a call may take. */
  limitMs: number;
  /** When the server has several images: the series of numbers (1, 3, 5 and so on for the first of two images) that
   * this image gives to its objects. */
  series?: Series | undefined;
  /** The path of the start file, if there is one. Only images that the server starts load it. */
  startFile?: string;
  /** Returns true when a signal, such as SIGSTOP, has stopped the process `pid`. */
  isStopped?: (pid: number) => boolean;
  times?: Times;
  /** Folders that ASDF also searches while a call runs, with all their subfolders. */
  trees?: readonly string[];
  callTool?: Upcalls['callTool'];
  /** Called with the details of an error in the code of the backend. */
  onFailure?: Upcalls['failed'];
  tools?: ImageTools;
  /** Called with each reply before the caller gets it. */
  onReply?: CallHost['onReply'];
}

const NO_GREETING = 'it did not answer in time';

/** Milliseconds between two attempts to connect when the image's queue of connections is full. */
const RETRY_MS = 50;

export class AttachedImage implements Image {
  readonly #options: AttachedOptions;
  readonly #times: Times;
  readonly #calls: Calls;
  readonly call: Calls['call'];
  readonly #notices = new Notices<ImageNotice>();
  /** The connection that is in use or being made; undefined when there is none. */
  #connecting: Promise<AttachedPeer> | undefined;
  /** The last connection. It may have ended, or its backend may never have greeted. */
  #lastPeer: AttachedPeer | undefined;
  /** The connection for calls: its backend has greeted, and it has not ended. Undefined when there is none. */
  #peer: AttachedPeer | undefined;
  #pulse: Pulse | undefined;
  /** The reason why the last attempt to connect failed; undefined when it succeeded. */
  #failure: string | undefined;
  #closed = false;
  /** The image that was found last. It may no longer accept connections. */
  #served: Served | undefined;
  /** The value of #served at the last call (see `used`). */
  #used: Served | undefined;
  /** The reasons why connections were lost, without those that a notice has reported. The oldest comes first. */
  readonly #losses: string[] = [];

  readonly isAttached = true;
  readonly loads = { systems: [], files: [] };

  constructor(options: AttachedOptions) {
    this.#options = options;
    this.#times = options.times ?? TIMES;
    const host: CallHost = {
      limitMs: options.limitMs,
      attached: true,
      series: options.series,
      stoppedPid: () => this.#stoppedPid(),
      readyPeer: () => (this.#closed ? undefined : this.#peer),
      whenReady: () => this.#ready(),
      rebuildProgress: () => undefined,
      compiling: () => false,
      beforeCall: (_, name) => {
        // `give-turn` releases the lock of a server that changes files. It is sent even to a stopped image, which
        // handles it after SIGCONT. Otherwise no other server could get the lock.
        if (name !== 'give-turn') this.#checkNotStopped();
        this.#noteUse();
      },
      answerRecorder: () => undefined,
      afterCall: () => {},
      ...(options.onReply && { onReply: options.onReply }),
      notify: (notice) => this.#notices.add(notice),
    };
    this.#calls = new Calls(host, this.#times);
    this.call = this.#calls.call.bind(this.#calls);
  }

  get jobs(): Jobs {
    return this.#calls.jobs;
  }

  get features(): ReadonlySet<string> {
    return this.#lastPeer?.features ?? new Set();
  }

  get running(): boolean {
    return this.#connecting !== undefined;
  }

  /** The image to which the last call was sent; undefined before the first call. It may no longer accept
   * connections. */
  get used(): Served | undefined {
    return this.#used;
  }

  /** Does nothing, because the server connects to a person's image only when a call needs the image. */
  start(): void {}

  async whenStarted(): Promise<void> {
    await this.#connecting?.catch(() => {});
  }

  takeNotices(): ImageNotice[] {
    return this.#notices.take();
  }

  status(): Promise<ImageStatus> {
    const life = {
      running: this.running,
      prepared: this.#peer !== undefined,
      pulse: this.#pulse,
      failure: this.#failure,
      hello: this.#peer?.hello,
      attached: true,
      served: this.#served,
      stopped: () => this.#stoppedPid() !== undefined,
    } as const;
    return imageStatusOf(life, { unreported: this.#losses }, this.jobs, this.#times.status);
  }

  close(): void {
    this.#closed = true;
    this.#lastPeer?.disconnect('the server ended');
  }

  async end(): Promise<void> {
    await this.jobs.endAll(this.#times.cleanup);
    this.close();
  }

  async #ready(): Promise<AttachedPeer> {
    if (this.#closed) throw new SetupError('The server is ending.');
    this.#connecting ??= this.#connect().catch((error: unknown) => {
      this.#connecting = undefined;
      this.#failure = messageOf(error);
      throw error;
    });
    return this.#connecting;
  }

  async #connect(): Promise<AttachedPeer> {
    const { find, tools, series } = this.#options;
    const served = await find();
    this.#served = served;
    const peer = await this.#greetedPeer(served);
    peer.notify('begin-session', { server: this.#name(), trees: this.#options.trees ?? [] });
    if (series !== undefined) peer.notify('number-in-series', { ...series });
    if (tools !== undefined) peer.notify('offer-tools', { tools: tools.offered() });
    this.#peer = peer;
    this.#pulse = new Pulse(peer);
    this.#failure = undefined;
    void peer.ended.then((how) => this.#lost(how));
    return peer;
  }

  /** Returns the name by which other servers of the image know this server. If the image can run on another machine,
   * the name says on which machine this process runs. */
  #name(): string {
    const name = `process ${process.pid}`;
    return this.#options.connect === undefined ? name : `${name} on ${hostname()}`;
  }

  /** Connects to SERVED, and resolves with the connection when the backend has greeted. Throws a SetupError when the
   * backend cannot be reached or does not greet in time. */
  async #greetedPeer(served: Served): Promise<AttachedPeer> {
    const deadline = performance.now() + this.#times.greeting;
    for (;;) {
      if (this.#closed) throw new SetupError('The server is ending.');
      this.#checkNotStopped();
      const peer = this.#newPeer(served);
      const timer = setTimeout(() => peer.disconnect(NO_GREETING), deadline - performance.now());
      try {
        await peer.greeting;
        return peer;
      } catch (error) {
        const why = messageOf(error);
        const isFull = why.includes('EAGAIN'); // The image's queue of connections is full.
        if (why === NO_GREETING || (isFull && performance.now() >= deadline))
          throw new SetupError(busyText(served, this.#stoppedPid() !== undefined));
        if (!isFull) throw new SetupError(this.#unreachableText(served, why));
        await pause(RETRY_MS);
      } finally {
        clearTimeout(timer);
      }
    }
  }

  /** Returns the process id of the image if a signal, such as SIGSTOP, has stopped the image's process; else
   * undefined. */
  #stoppedPid(): number | undefined {
    const pid = this.#served?.pid;
    return pid !== undefined && this.#options.isStopped?.(pid) ? pid : undefined;
  }

  /** Throws a SetupError when a signal has stopped the image's process. A request would run later, after SIGCONT, when
   * its caller no longer waits for it. */
  #checkNotStopped(): void {
    if (this.#served !== undefined && this.#stoppedPid() !== undefined)
      throw new SetupError(busyText(this.#served, true));
  }

  #newPeer(served: Served): AttachedPeer {
    const { callTool, onFailure, tools, connect = ({ socket }) => socketConnection(socket) } = this.#options;
    const peer = new AttachedPeer(connect(served), {
      ...(callTool && { callTool }),
      ...(onFailure && { failed: onFailure }),
      ...(tools && {
        // `false`: no tool is from a start file, because such an image loads none.
        registerTool: (definition, registration) => tools.register(definition, false, registration),
      }),
    });
    this.#lastPeer = peer;
    return peer;
  }

  #unreachableText(served: Served, why: string): string {
    return `The image ${servedName(served)} cannot be reached: ${why}. Ask the user to enter this line in the image's REPL, then repeat the call. The line: ${this.#options.attachLine}`;
  }

  #lost(how: string): void {
    this.#connecting = undefined;
    this.#peer = undefined;
    this.#pulse = undefined;
    this.#losses.push(how);
    this.#options.tools?.clear();
  }

  /** Records that a call will use the image #served. Adds a notice when this is another image than for the previous
   * call, or when the connection was lost meanwhile. */
  #noteUse(): void {
    const [served, before] = [this.#served, this.#used];
    const losses = this.#losses.splice(0);
    if (served === undefined) return;
    this.#used = served;
    if (before !== undefined && isSameImage(served, before)) {
      for (const how of losses) this.#notices.add({ kind: 'connected again', how });
      return;
    }
    const { startFile } = this.#options;
    const how = losses.join('; then ');
    this.#notices.add({
      kind: 'attached',
      served,
      ...(before && { before }),
      how,
      ...(startFile !== undefined && { startFile }),
    });
  }
}

function busyText(served: Served, isStopped: boolean): string {
  const name = `The image ${servedName(served)}`;
  const own = 'With the flag --image own this server works in an image of its own.';
  return isStopped
    ? `${name} does not react, so nothing was run: its process is stopped, for example by Ctrl-Z. Ask the user to resume it: kill -CONT ${served.pid}. Then call again. ${own}`
    : `${name} did not answer in time, so nothing was run; it may be busy. Call again later, or ask the user what it is doing. ${own}`;
}
