// Implements Image for an image that somebody else runs. Connects to its agent on demand. The server never
// starts, ends or rebuilds such an image.

import { ImageError, messageOf, SetupError } from '../../errors.ts';
import type { Image, ImageTools, Notice } from '../image.ts';
import { Calls, type Host } from '../session/calls.ts';
import type { Jobs } from '../session/jobs.ts';
import { Notices } from '../session/notices.ts';
import { type ImageStatus, imageStatus } from '../session/status.ts';
import { Pulse } from '../wire/pulse.ts';
import { TIMES, type Times } from '../wire/times.ts';
import type { Upcalls } from '../wire/upcalls.ts';
import { AttachedPeer } from './attached-peer.ts';

export interface AttachedOptions {
  /** Unix socket on which the image's agent listens. */
  socket: string;
  /** Time limit of a call in milliseconds. */
  limitMs: number;
  /** Timeouts of the image. */
  times?: Times;
  /** Folders in and below which ASDF also finds systems while a call runs. */
  trees?: readonly string[];
  /** Calls a tool for code in the image. */
  callTool?: Upcalls['callTool'];
  /** Registers tools of the image. */
  tools?: ImageTools;
}

export class AttachedImage implements Image {
  readonly #options: AttachedOptions;
  readonly #times: Times;
  readonly #calls: Calls;
  /** Performs the operation NAME with ARGS, as in Image. */
  readonly call: Calls['call'];
  readonly #notices = new Notices<Notice>();
  #connecting: Promise<AttachedPeer> | undefined;
  /** The last connection, even if it has ended or its agent never greeted. */
  #lastPeer: AttachedPeer | undefined;
  /** The connection that calls use, if there is one. */
  #peer: AttachedPeer | undefined;
  #pulse: Pulse | undefined;
  #failure: string | undefined;
  #closed = false;
  /** Why connections were lost, as far as no notice has reported it yet, oldest first. */
  readonly #losses: string[] = [];

  constructor(options: AttachedOptions) {
    this.#options = options;
    this.#times = options.times ?? TIMES;
    const host: Host = {
      limitMs: options.limitMs,
      current: () => (this.#closed ? undefined : this.#peer),
      ready: () => this.#ready(),
      building: () => undefined,
      compiling: () => false,
      beforeCall: () => {
        for (const how of this.#losses.splice(0)) this.#notices.add({ kind: 'connected again', how });
      },
      watch: () => undefined,
      afterCall: () => {},
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

  start(): void {
    this.#ready().catch(() => {});
  }

  async started(): Promise<void> {
    await this.#connecting?.catch(() => {});
  }

  takeNotices(): Notice[] {
    return this.#notices.take();
  }

  status(): Promise<ImageStatus> {
    const life = {
      running: this.running,
      prepared: this.#peer !== undefined,
      pulse: this.#pulse,
      failure: this.#failure,
      hello: this.#peer?.hello,
    };
    return imageStatus(life, { unreported: this.#losses }, this.jobs, this.#times.status);
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
    const { socket, callTool, tools } = this.#options;
    const peer = new AttachedPeer(socket, {
      ...(callTool && { callTool }),
      ...(tools && {
        registerTool: (definition, registration) => tools.register(definition, false, registration),
      }),
    });
    this.#lastPeer = peer;
    const lateReason = 'its agent did not greet in time; it serves one server at a time, so end the other';
    const timer = setTimeout(() => peer.disconnect(lateReason), this.#times.greeting);
    try {
      await peer.greeting;
    } catch (error) {
      throw new ImageError(
        `No Lisp image can be reached at ${socket}: ${messageOf(error)}. Start its agent again there, then call again.`,
      );
    } finally {
      clearTimeout(timer);
    }
    peer.notify('find-systems-below', { trees: this.#options.trees ?? [] });
    if (tools !== undefined) peer.notify('offer-tools', { tools: tools.offered() });
    this.#peer = peer;
    this.#pulse = new Pulse(peer);
    this.#failure = undefined;
    void peer.ended.then((how) => this.#lost(how));
    return peer;
  }

  #lost(how: string): void {
    this.#connecting = undefined;
    this.#peer = undefined;
    this.#pulse = undefined;
    this.#losses.push(how);
    this.#options.tools?.clear();
  }
}
