// Implements the interface Image for an SBCL that the server runs. Lifetime starts the process and takes it through its
// stages (see Stage in lifetime.ts), Calls sends calls to it, Probing tests whether it still works, and Recovery
// rebuilds it after a loss. An image is plain when its backend uses no internals of SBCL (see start-policy.ts).
//
// A lost image is replaced when somebody needs one (`start`, `greeting`, `restart`, or a call by `whenReady`). Only a loss
// that a rebuild can repair, and that somebody may notice, starts the next image at once (`#lost`).

import { ImageError } from '../../errors.ts';
import type { Image, ImageNotice, ImageTools, RebuildFrom, RestartableImage, Stake } from '../image.ts';
import type { Child } from '../process/child.ts';
import type { LibraryManager } from '../process/libraries.ts';
import { Lifetime, type LifetimeCallbacks } from '../process/lifetime.ts';
import type { StartOptions } from '../process/starter.ts';
import type { LoadedFileReader } from '../recovery/digests.ts';
import type { JournalStore } from '../recovery/entries.ts';
import { Recovery } from '../recovery/recovery.ts';
import type { LossReport } from '../recovery/report.ts';
import { type CallHost, Calls } from '../session/calls.ts';
import type { Jobs } from '../session/jobs.ts';
import { Notices } from '../session/notices.ts';
import { Probing } from '../session/probing.ts';
import { Queue } from '../session/queue.ts';
import { type ImageStatus, imageStatusOf } from '../session/status.ts';
import type { Hello } from '../wire/messages.ts';
import type { Peer } from '../wire/peer.ts';
import type { Series } from '../wire/series.ts';
import { type Times, timesFor } from '../wire/times.ts';
import type { Upcalls } from '../wire/upcalls.ts';

export interface SbclOptions extends StartOptions {
  limitMs: number;
  /** The series from which the objects of this image get their numbers; absent when the server has only this image. */
  series?: Series | undefined;
  /** Returns the user's files that each new image loads. */
  startFiles: () => string[];
  /** Returns the library manager, such as Quicklisp, that an image loads when it first needs one. Also returns
   * `initFile`, the user's ~/.sbclrc, if this file does more than set up a library manager. Images do not load it, but
   * mention it when a package is missing, for example. */
  libraries?: () => Partial<LibraryManager> & { initFile?: string | undefined };
  /** Calls a tool for code in the image. Absent when code can call no tools. */
  callTool?: Upcalls['callTool'];
  /** Called with the details of an error in the code of the backend. */
  onFailure?: Upcalls['failed'];
  /** Exchanges tools with the image. If absent, code in an image can call only tools that are defined in the same
   * image. */
  tools?: ImageTools;
  /** The store of the journal. If absent, a lost image is not rebuilt. */
  journal?: JournalStore;
  loadedFiles?: LoadedFileReader;
  /** Called with each reply before the caller gets it. */
  onReply?: CallHost['onReply'];
  times?: Times;
  /** True for a fresh image, which is made for one call and ends with it. */
  fresh?: true;
}

export class SbclImage implements Image, RestartableImage {
  readonly #options: SbclOptions;
  readonly #times: Times;
  readonly #calls: Calls;
  readonly call: Calls['call'];
  /** Runs one restart at a time, so that each restart reports the loss of the image that it has ended. */
  readonly #restarts = new Queue(1);
  readonly #recovery: Recovery;
  readonly #notices = new Notices<ImageNotice>();
  readonly #lifetime: Lifetime;
  readonly #probing: Probing;
  /** The last plain image that #noticePlain has reported. */
  #reportedPlain: Child | undefined;

  constructor(options: SbclOptions) {
    const times = timesFor(options.heapMb, options.times);
    this.#options = options;
    this.#times = times;
    this.#recovery = new Recovery(options.journal, times, options.loadedFiles);
    const callbacks: LifetimeCallbacks = {
      upcalls: (child) => ({
        ...(options.callTool && { callTool: options.callTool }),
        ...(options.onFailure && { failed: options.onFailure }),
        registerTool: (definition, registration) => this.#register(child, definition, registration),
        report: (report) => this.#recovery.handleJobReport(report, this.#lifetime.stageOf(child) === 'ready'),
      }),
      loadStartFiles: (child) => this.#loadStartFiles(child),
      rebuild: (child) => this.#recovery.rebuildIn(child),
      lost: (how) => this.#lost(how),
    };
    this.#lifetime = new Lifetime(options, callbacks, times);
    this.#probing = new Probing(
      { replace: (peer, how) => this.#replace(peer, how), notify: (notice) => this.#notices.add(notice) },
      times,
    );
    this.#calls = new Calls(this.#host(), times);
    this.call = this.#calls.call.bind(this.#calls);
  }

  #host(): CallHost {
    return {
      limitMs: this.#options.limitMs,
      fresh: this.#options.fresh === true,
      series: this.#options.series,
      // No peer is ready while a probe tests whether the image works. Its result decides whether the next call gets a
      // new image.
      readyPeer: () => (this.#probing.runningProbe ? undefined : this.#lifetime.current),
      whenReady: async () => {
        await this.#probing.runningProbe;
        return this.#lifetime.ready();
      },
      rebuildProgress: () => this.#recovery.progress,
      compiling: () => this.#lifetime.compiling,
      beforeCall: (peer) => {
        // If a start file has ended this image, the loss is reported when the next image is used.
        if (peer.dead) return;
        this.#noticeLoss();
        this.#noticePlain();
        this.#recovery.noteUse();
      },
      // The preparation of an image is repeated for each new image, so the journal does not record it.
      answerRecorder: (peer, name, args) =>
        this.#lifetime.stageOf(peer) === 'ready'
          ? this.#recovery.answerRecorder(peer, name, args)
          : undefined,
      afterCall: (peer, reply) => {
        this.#recovery.noteSurvivedCall();
        // After enough answers, the reports of how earlier images ended make no image plain.
        this.#lifetime.answered();
        this.#probing.ended(peer, reply);
      },
      ...(this.#options.onReply && { onReply: this.#options.onReply }),
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

  get loads() {
    return this.#recovery.recorder.loads;
  }

  readonly isAttached = false;
  readonly restartRefusal = undefined;

  start(): void {
    this.#lifetime.ready().catch(() => {});
  }

  whenStarted(): Promise<void> {
    // The rebuild of the next image registers the tools of the lost image again, so the next image is started now.
    if (this.#recovery.isRebuildWanted) this.start();
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

  /** Ends the image at once. Resolves when its process has ended. */
  async kill(): Promise<void> {
    this.close();
    await this.#lifetime.settled();
    await this.#lifetime.child?.ended;
  }

  status(): Promise<ImageStatus> {
    const { last } = this.#probing;
    return imageStatusOf(this.#lifetime, this.#recovery, this.jobs, this.#times.status, last);
  }

  get lastLoss(): LossReport | undefined {
    return this.#recovery.lastLoss;
  }

  async isBroken(): Promise<boolean> {
    await this.#probing.runningProbe;
    return this.#probing.broken;
  }

  get stake(): Stake {
    const { entries, isEnabled } = this.#recovery.journal;
    const { contents } = this.#recovery.recorder;
    return {
      entries: entries.length,
      replay: isEnabled,
      values: contents.variables,
      calls: this.jobs.list().length,
    };
  }

  async restart(rebuild: RebuildFrom): Promise<LossReport | undefined> {
    return this.#restarts.within(() => this.#restart(rebuild));
  }

  async #restart(rebuild: RebuildFrom): Promise<LossReport | undefined> {
    await this.#lifetime.settled();
    this.#recovery.chooseRebuild(rebuild);
    const child = this.#lifetime.child;
    // If no image runs, its loss may be reported already. But an image is rebuilt only after an unreported loss.
    if (child === undefined || child.dead) this.#recovery.noteLoss('restart_image asked for a new one');
    else await this.#lifetime.kill(child, 'restart_image ended it');
    if ((await this.#lifetime.ready()).dead) {
      throw new ImageError(
        'The new Lisp image ended at once. Check the start files (--init), which it loads first.',
      );
    }
    // This restart counts as a use of the image. Otherwise, after repeated restarts, it would seem that images are lost
    // before their first use.
    this.#recovery.noteUse();
    // A call that waited for the new image may have taken the report already.
    return this.#recovery.takeReport() ?? this.lastLoss;
  }

  /** Returns the backend's greeting, which lists the abilities that this SBCL lacks, and their substitutes. */
  async greeting(): Promise<Hello> {
    return (await this.#lifetime.ready()).greeting;
  }

  takeNotices(): ImageNotice[] {
    const raw = this.#lifetime.child?.takeRaw().trim() ?? '';
    if (raw !== '') this.#notices.add({ kind: 'raw', text: raw });
    for (const note of this.#recovery.journal.takeNotes()) this.#notices.add(note);
    return this.#notices.take();
  }

  /** Ends the process of PEER, if it is still that of the current image. Its end is then a loss, as any other. */
  async #replace(peer: Peer, how: string): Promise<void> {
    const { child } = this.#lifetime;
    if (child !== undefined && child === peer) await this.#lifetime.kill(child, how);
  }

  /** Tells the new image CHILD what its code can use, and loads the start files in it. */
  async #loadStartFiles(child: Child): Promise<void> {
    const { tools, series, libraries } = this.#options;
    if (series !== undefined) child.notify('number-in-series', { ...series });
    if (tools !== undefined) child.notify('offer-tools', { tools: tools.offered() });
    if (libraries !== undefined) child.notify('use-libraries', libraries());
    for (const file of this.#options.startFiles()) {
      const { ending, output } = await this.#calls.prepare(child, 'load-source', { file });
      if (ending.kind !== 'done') this.#notices.add({ kind: 'start file', file, ending, output });
    }
  }

  #register(child: Child, definition: unknown, registration: unknown): string {
    const stage = this.#lifetime.stageOf(child);
    // A tool belongs to the start files only if they registered it while they were loaded.
    const atStart = stage === 'start files';
    const clientName = this.#options.tools?.register(definition, atStart, registration) ?? nameOf(definition);
    if (!atStart) this.#recovery.registeredTool(clientName, stage === 'ready');
    return clientName;
  }

  /** Handles the loss of the image for the reason HOW. */
  #lost(how: string): void {
    this.#options.tools?.clear();
    if (this.#recovery.noteLoss(how) === 'rebuild at once') this.start();
  }

  /** If the image is plain, adds a notice about this, once for each image. */
  #noticePlain(): void {
    const { child, plainBecause, hello } = this.#lifetime;
    if (plainBecause.length === 0 || hello === undefined || this.#reportedPlain === child) return;
    this.#reportedPlain = child;
    this.#notices.add({ kind: 'plain', how: plainBecause, lacking: hello });
  }

  #noticeLoss(): void {
    const report = this.#recovery.takeReport();
    if (report !== undefined) this.#notices.add({ kind: 'loss', report });
  }
}

function nameOf(definition: unknown): string {
  return String(Object(definition).name);
}
