// Implements Image for an image that somebody else runs. Finds it and connects to its agent on demand, and again
// after the connection is lost. The server never starts, ends or rebuilds such an image.

import { setTimeout as pause } from 'node:timers/promises';
import { messageOf, SetupError } from '../../errors.ts';
import type { Image, ImageNotice, ImageTools } from '../image.ts';
import { type CallHost, Calls } from '../session/calls.ts';
import type { Jobs } from '../session/jobs.ts';
import { Notices } from '../session/notices.ts';
import { type ImageStatus, imageStatusOf } from '../session/status.ts';
import { Pulse } from '../wire/pulse.ts';
import { isSameImage, type Served, servedName } from '../wire/served.ts';
import { TIMES, type Times } from '../wire/times.ts';
import type { Upcalls } from '../wire/upcalls.ts';
import { type AgentConnection, AttachedPeer, socketConnection } from './attached-peer.ts';

export interface AttachedOptions {
  /** Returns the image to connect to. Throws a SetupError when there is none. */
  find: () => Promise<Served>;
  /** Returns the connection to the image that was found; by default, to its socket. */
  connect?: (served: Served) => AgentConnection;
  /** The form by which an image begins to serve, for the texts of errors. */
  line: string;
  /** Time limit of a call in milliseconds. */
  limitMs: number;
  /** The start file that images of the server load, if there is one. This one does not. */
  startFile?: string;
  /** True when a signal has stopped the process PID. */
  isStopped?: (pid: number) => boolean;
  /** Timeouts of the image. */
  times?: Times;
  /** Folders in and below which ASDF also finds systems while a call runs. */
  trees?: readonly string[];
  /** Calls a tool for code in the image. */
  callTool?: Upcalls['callTool'];
  /** Registers tools of the image. */
  tools?: ImageTools;
  /** Receives each reply before the caller does. */
  onReply?: CallHost['onReply'];
}

/** Why a connection was closed whose agent had not greeted in time. */
const NO_GREETING = 'it did not answer in time';

/** Milliseconds between two attempts to connect to an image for which too many others wait. */
const RETRY_MS = 50;

export class AttachedImage implements Image {
  readonly #options: AttachedOptions;
  readonly #times: Times;
  readonly #calls: Calls;
  /** Performs the operation NAME with ARGS, as in Image. */
  readonly call: Calls['call'];
  readonly #notices = new Notices<ImageNotice>();
  #connecting: Promise<AttachedPeer> | undefined;
  /** The last connection, even if it has ended or its agent never greeted. */
  #lastPeer: AttachedPeer | undefined;
  /** The connection that calls use, if there is one. */
  #peer: AttachedPeer | undefined;
  #pulse: Pulse | undefined;
  #failure: string | undefined;
  #closed = false;
  /** The image that was found last, even if it has gone away. */
  #served: Served | undefined;
  /** The image to which the last call was sent. */
  #used: Served | undefined;
  /** Why connections were lost, as far as no notice has reported it yet, oldest first. */
  readonly #losses: string[] = [];

  readonly isAttached = true;

  constructor(options: AttachedOptions) {
    this.#options = options;
    this.#times = options.times ?? TIMES;
    const host: CallHost = {
      limitMs: options.limitMs,
      attached: true,
      readyPeer: () => (this.#closed ? undefined : this.#peer),
      whenReady: () => this.#ready(),
      rebuildProgress: () => undefined,
      compiling: () => false,
      beforeCall: () => this.#noticeImage(),
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

  /** The image to which the last call was sent, even if that image is gone by now; undefined before the first call. */
  get used(): Served | undefined {
    return this.#used;
  }

  /** Does nothing: a server that is not used makes no connection to a person's image. */
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
      stopped: () => this.#served !== undefined && this.#isStopped(this.#served),
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
    const { find, tools } = this.#options;
    const served = await find();
    this.#served = served;
    const peer = await this.#greetedPeer(served);
    peer.notify('begin-session', { server: `process ${process.pid}`, trees: this.#options.trees ?? [] });
    if (tools !== undefined) peer.notify('offer-tools', { tools: tools.offered() });
    this.#peer = peer;
    this.#pulse = new Pulse(peer);
    this.#failure = undefined;
    void peer.ended.then((how) => this.#lost(how));
    return peer;
  }

  /** Returns a connection to SERVED whose agent has greeted. Throws a SetupError when there is none in time. */
  async #greetedPeer(served: Served): Promise<AttachedPeer> {
    const deadline = performance.now() + this.#times.greeting;
    for (;;) {
      if (this.#closed) throw new SetupError('The server is ending.');
      const peer = this.#newPeer(served);
      const timer = setTimeout(() => peer.disconnect(NO_GREETING), deadline - performance.now());
      try {
        await peer.greeting;
        return peer;
      } catch (error) {
        const why = messageOf(error);
        const isFull = why.includes('EAGAIN'); // As many connections wait for the image as can.
        if (why === NO_GREETING || (isFull && performance.now() >= deadline))
          throw new SetupError(busyText(served, this.#isStopped(served)));
        if (!isFull) throw new SetupError(this.#unreachableText(served, why));
        await pause(RETRY_MS);
      } finally {
        clearTimeout(timer);
      }
    }
  }

  #isStopped({ pid }: Served): boolean {
    return this.#options.isStopped?.(pid) ?? false;
  }

  #newPeer(served: Served): AttachedPeer {
    const { callTool, tools, connect = ({ socket }) => socketConnection(socket) } = this.#options;
    const peer = new AttachedPeer(connect(served), {
      ...(callTool && { callTool }),
      ...(tools && {
        registerTool: (definition, registration) => tools.register(definition, false, registration),
      }),
    });
    this.#lastPeer = peer;
    return peer;
  }

  #unreachableText(served: Served, why: string): string {
    return `The image ${servedName(served)} cannot be reached: ${why}. Ask the user to enter this line in the image's REPL, then repeat the call. The line: ${this.#options.line}`;
  }

  #lost(how: string): void {
    this.#connecting = undefined;
    this.#peer = undefined;
    this.#pulse = undefined;
    this.#losses.push(how);
    this.#options.tools?.clear();
  }

  /** Adds a notice when a call is about to work in another image than the last call, or over another
   *  connection. */
  #noticeImage(): void {
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

/** Returns the text for SERVED when it does not greet. IS_STOPPED says that a signal has stopped its process. */
function busyText(served: Served, isStopped: boolean): string {
  const head = `The image ${servedName(served)} did not answer in time, so nothing was run`;
  const own = 'With the flag --image own this server works in an image of its own.';
  return isStopped
    ? `${head}: its process was stopped by a signal, as by Ctrl-Z. Ask the user to let it go on: kill -CONT ${served.pid}. Then call again. ${own}`
    : `${head}; it may be busy. Call again later, or ask the user what it does. ${own}`;
}
