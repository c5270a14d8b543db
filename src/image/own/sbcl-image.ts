// Decides how our own SBCL is an image: prepared with start files and tools, built again when it is lost, replaced when
// somebody asks.

import { ImageError } from '../../errors.ts';
import type { Image, ImageTools, Notice, RebuildFrom, Replaceable, Stake } from '../image.ts';
import type { Child } from '../process/child.ts';
import type { LibraryManager } from '../process/libraries.ts';
import { Lifetime, type LifetimeOptions, type Turns } from '../process/lifetime.ts';
import type { LoadedFiles } from '../recovery/digests.ts';
import type { JournalStore } from '../recovery/entries.ts';
import { Recovery } from '../recovery/recovery.ts';
import type { LossReport } from '../recovery/report.ts';
import { Calls, type Host } from '../session/calls.ts';
import type { Jobs } from '../session/jobs.ts';
import { Notices } from '../session/notices.ts';
import { Probing } from '../session/probing.ts';
import { Queue } from '../session/queue.ts';
import { type ImageStatus, imageStatus } from '../session/status.ts';
import type { Hello } from '../wire/messages.ts';
import type { Peer } from '../wire/peer.ts';
import { type Times, timesFor } from '../wire/times.ts';
import type { Upcalls } from '../wire/upcalls.ts';

export interface SbclOptions extends LifetimeOptions {
  /** Milliseconds that a call may take. */
  limitMs: number;
  /** Files of the user's own to load into every new image. */
  startFiles: () => string[];
  /** The library manager that an image loads when something first needs it, and the init file of the user that images
   *  do not load, where it can have more than that. */
  libraries?: () => Partial<LibraryManager> & { initFile?: string | undefined };
  /** Calls a tool for code in the image, which cannot call any when this is absent. */
  callTool?: Upcalls['callTool'];
  /** What is done about tools in the image; when absent it has no tools but those that code in it makes. */
  tools?: ImageTools;
  /** Where it is kept what built the image; when absent a lost one is not built again. */
  journal?: JournalStore;
  /** Reads the files that code in the image has loaded. */
  loadedFiles?: LoadedFiles;
  /** Takes each reply before who called does. */
  replies?: Host['replies'];
  /** How long it is waited for. */
  times?: Times;
}

export class SbclImage implements Image, Replaceable {
  readonly #options: SbclOptions;
  readonly #times: Times;
  readonly #calls: Calls;
  /** Performs the operation NAME with ARGS, as Image says. */
  readonly call: Calls['call'];
  /** Each restart tells of its own image. */
  readonly #restarts = new Queue(1);
  readonly #recovery: Recovery;
  readonly #notices = new Notices<Notice>();
  /** The process that loads the start files, which are a person's own. */
  #startsFrom: Child | undefined;
  readonly #lifetime: Lifetime;
  readonly #probing: Probing;
  /** The image that was told to be plain last. */
  #toldPlain: Child | undefined;

  constructor(options: SbclOptions) {
    const times = timesFor(options.heapMb, options.times);
    this.#options = options;
    this.#times = times;
    this.#recovery = new Recovery(options.journal, times, options.loadedFiles);
    const turns: Turns = {
      upcalls: (child) => ({
        ...(options.callTool && { callTool: options.callTool }),
        registerTool: (definition, registration) => this.#register(child, definition, registration),
        tell: (told) => this.#recovery.tell(told, this.#lifetime.isPrepared(child)),
      }),
      prepare: (child) => this.#prepare(child),
      lost: (how, byCall) => {
        options.tools?.clear();
        if (this.#recovery.lost(how, byCall)) this.start();
      },
    };
    this.#lifetime = new Lifetime(options, turns, times);
    this.#probing = new Probing(
      { replace: (peer, how) => this.#replace(peer, how), notify: (notice) => this.#notices.add(notice) },
      times,
    );
    this.#calls = new Calls(this.#host(), times);
    this.call = this.#calls.call.bind(this.#calls);
  }

  /** Returns what calls need of this image. */
  #host(): Host {
    return {
      limitMs: this.#options.limitMs,
      // Whether the next call gets another image is not known before that.
      current: () => (this.#probing.looking ? undefined : this.#lifetime.current),
      ready: async () => {
        await this.#probing.looking;
        return this.#lifetime.ready();
      },
      building: () => this.#recovery.progress,
      compiling: () => this.#lifetime.compiling,
      begins: (peer) => {
        // One that a start file has ended is no image to tell of.
        if (peer.dead) return;
        this.#tellLoss();
        this.#tellPlain();
        this.#recovery.used();
      },
      // What is done before calls use an image is done to every new one.
      watch: (peer, name, args) =>
        this.#lifetime.isPrepared(peer) ? this.#recovery.watch(peer, name, args) : undefined,
      ended: (peer, reply) => {
        this.#recovery.worked();
        this.#lifetime.answered();
        this.#probing.ended(peer, reply);
      },
      ...(this.#options.replies && { replies: this.#options.replies }),
      notify: (notice) => this.#notices.add(notice),
    };
  }

  get jobs(): Jobs {
    return this.#calls.jobs;
  }

  get features(): ReadonlySet<string> {
    return this.#lifetime.child?.features ?? new Set();
  }

  get running(): boolean {
    return this.#lifetime.running;
  }

  start(): void {
    this.#lifetime.ready().catch(() => {});
  }

  started(): Promise<void> {
    // Its tools come back with it.
    if (this.#recovery.wanted) this.start();
    return this.#lifetime.settled();
  }

  close(): void {
    this.#recovery.close();
    this.#lifetime.close();
  }

  async end(): Promise<void> {
    await this.jobs.endAll(this.#times.cleanup);
    this.close();
  }

  status(): Promise<ImageStatus> {
    const { last } = this.#probing;
    return imageStatus(this.#lifetime, this.#recovery, this.jobs, this.#times.status, last);
  }

  get lastLoss(): LossReport | undefined {
    return this.#recovery.lastLoss;
  }

  async isBroken(): Promise<boolean> {
    await this.#probing.looking;
    return this.#probing.broken;
  }

  get stake(): Stake {
    const { entries, held, on } = this.#recovery.journal;
    return { entries: entries.length, replay: on, values: held.variables, calls: this.jobs.list().length };
  }

  async restart(rebuild: RebuildFrom): Promise<LossReport | undefined> {
    return this.#restarts.within(() => this.#restart(rebuild));
  }

  async #restart(rebuild: RebuildFrom): Promise<LossReport | undefined> {
    await this.#lifetime.settled();
    this.#recovery.choose(rebuild);
    const child = this.#lifetime.child;
    if (child === undefined || child.dead) this.#recovery.lost('restart_image asked for a new one');
    else {
      child.kill('restart_image ended it');
      await child.ended;
    }
    if ((await this.#lifetime.ready()).dead) {
      throw new ImageError(
        'The new Lisp image ended as soon as it was there. Look at the start files, which it loads first.',
      );
    }
    // Else one that is restarted again and again would count as lost again and again.
    this.#recovery.used();
    // A call that waited can have been told before.
    return this.#recovery.takeReport() ?? this.lastLoss;
  }

  /** Returns what this SBCL lacks, and what the agent does instead. */
  async greeting(): Promise<Hello> {
    return (await this.#lifetime.ready()).greeting;
  }

  takeNotices(): Notice[] {
    const raw = this.#lifetime.child?.takeRaw().trim() ?? '';
    if (raw !== '') this.#notices.add({ kind: 'raw', text: raw });
    for (const note of this.#recovery.journal.takeNotes()) this.#notices.add(note);
    return this.#notices.take();
  }

  async #replace(peer: Peer, how: string): Promise<void> {
    const { child } = this.#lifetime;
    if (child === undefined || child !== peer) return;
    child.kill(how);
    await child.ended;
  }

  async #prepare(child: Child): Promise<boolean> {
    const { tools } = this.#options;
    if (tools !== undefined) child.tell('offer-tools', { tools: tools.offered() });
    const { libraries } = this.#options;
    if (libraries !== undefined) child.tell('use-libraries', libraries());
    this.#startsFrom = child;
    await this.#loadStartFiles(child);
    this.#startsFrom = undefined;
    return this.#recovery.prepare(child);
  }

  async #loadStartFiles(child: Child): Promise<void> {
    for (const file of this.#options.startFiles()) {
      const { ending, output } = await this.#calls.prepare(child, 'load-source', { file });
      if (ending.kind !== 'done') this.#notices.add({ kind: 'start file', file, ending, output });
    }
  }

  #register(child: Child, definition: unknown, registration: unknown): string {
    // What it registers once its start files are loaded is no longer what they do.
    const atStart = child === this.#startsFrom;
    const called = this.#options.tools?.register(definition, atStart, registration) ?? nameOf(definition);
    if (!atStart) this.#recovery.registeredTool(called, this.#lifetime.isPrepared(child));
    return called;
  }

  /** That an image is plain is told with its first answer. */
  #tellPlain(): void {
    const { child, plainBecause, hello } = this.#lifetime;
    if (plainBecause.length === 0 || hello === undefined || this.#toldPlain === child) return;
    this.#toldPlain = child;
    this.#notices.add({ kind: 'plain', how: plainBecause, lacking: hello });
  }

  /** A loss is told with the first answer of the image that took its place. */
  #tellLoss(): void {
    const report = this.#recovery.takeReport();
    if (report !== undefined) this.#notices.add({ kind: 'loss', report });
  }
}

/** Returns the name in DEFINITION, which can be anything. */
function nameOf(definition: unknown): string {
  return String(Object(definition).name);
}
