// Decides when a lost image is rebuilt, and how often this is tried.

import { CallError } from '../../errors.ts';
import type { Answer, JobReport } from '../wire/messages.ts';
import type { Peer } from '../wire/peer.ts';
import { TIMES, type Times } from '../wire/times.ts';
import type { LoadedFileReader } from './digests.ts';
import type { JournalStore, SystemEntry } from './entries.ts';
import { Journal } from './journal.ts';
import { Rebuild } from './rebuild.ts';
import { Recorder } from './recorder.ts';
import { addContents, emptyContents, type LossReport } from './report.ts';

/** Maximum number of attempts in a row to rebuild a lost image. An attempt has failed when the new image is lost during
 * the rebuild, or before the next call uses it. */
const ATTEMPT_LIMIT = 3;
/** When this many images in a row were lost soon after their rebuild, the rebuild may be the cause. */
const SUSPICIOUS_LOSSES = 2;
const MAX_REPORTED_LOSSES = 5;

interface ImageLife {
  /** The time (performance.now) when the rebuild of the image ended; undefined when it was not rebuilt. */
  rebuiltAt?: number;
  used: boolean;
  /** True when a call in the image has ended without the loss of the image. */
  survivedCall: boolean;
  /** True when the user has asked for the end of the image. So its end says nothing about its rebuild. */
  endIsWanted?: true;
}

export class Recovery {
  readonly journal: Journal;
  readonly recorder: Recorder;
  readonly #times: Times;
  #losses: string[] = [];
  #lostContents = emptyContents();
  #rebuild: Rebuild | undefined;
  /** Number of rebuilds of the lost image since the last report, including planned ones. */
  #attempts = 0;
  #life: ImageLife = { used: false, survivedCall: false };
  /** Number of images in a row that were lost soon after their rebuild. */
  #lostSoonInARow = 0;
  /** Number of lines in the previous server's journal that could not be read. */
  #damaged = 0;
  /** Number of entries that were removed because the user asked for an image without them. */
  #forgotten = 0;
  #lastReport: LossReport | undefined;

  /** STORE stores the journal. If it is undefined, lost images are not rebuilt. FILES reads the files that were
   * loaded. */
  constructor(store: JournalStore | undefined, times: Times = TIMES, files?: LoadedFileReader) {
    this.#times = times;
    this.journal = new Journal(store, files);
    this.recorder = new Recorder(this.journal);
  }

  get lastLoss(): LossReport | undefined {
    return this.#lastReport;
  }

  /** The reasons why images were lost, as far as they are not reported yet. The oldest comes first. */
  get unreported(): readonly string[] {
    return this.#losses;
  }

  get progress(): string | undefined {
    return this.#rebuild?.progress;
  }

  get isRebuildWanted(): boolean {
    return this.#losses.length > 0 && this.journal.entries.length > 0;
  }

  noteUse(): void {
    this.#life.used = true;
  }

  noteSurvivedCall(): void {
    this.#life.survivedCall = true;
  }

  /** Records that the image was lost for the reason HOW, part of a sentence. Returns true when it must be rebuilt at
   * once. An image in which no call ran is rebuilt only when a call needs it. */
  noteLoss(how: string): boolean {
    this.#losses = [...this.#losses, how].slice(-MAX_REPORTED_LOSSES);
    addContents(this.#lostContents, this.recorder.takeContents());
    const { rebuiltAt, used, survivedCall, endIsWanted = false } = this.#life;
    this.#life = { used: false, survivedCall: false };
    if (rebuiltAt !== undefined) {
      // The rebuild may be the cause of the loss.
      const isLostSoon = performance.now() - rebuiltAt < this.#times.soon || (used && !survivedCall);
      this.#lostSoonInARow = isLostSoon && !endIsWanted ? this.#lostSoonInARow + 1 : 0;
    }
    return used && this.isRebuildWanted;
  }

  /** Selects the source from which the next image is rebuilt (see RebuildFrom). Throws a CallError for 'previous' when
   * there is no journal of a previous server, or when the server stores no journals. */
  chooseRebuild(rebuild: 'session' | 'none' | 'previous'): void {
    this.#lostSoonInARow = 0;
    this.#life.endIsWanted = true;
    if (rebuild === 'session') return;
    if (!this.journal.isEnabled) {
      if (rebuild === 'none') return;
      throw new CallError(
        'There are no journals, because the server was started with --replay off. Nothing was done.',
      );
    }
    if (rebuild === 'none') {
      this.#forgotten = this.journal.entries.length;
      this.journal.clear();
      return;
    }
    const damaged = this.journal.takePrevious();
    if (damaged === undefined) {
      throw new CallError('There is no journal of an earlier server in this workspace, so nothing was done.');
    }
    this.#damaged = damaged;
  }

  /** If an image was lost and is to be rebuilt, rebuilds it in the new image PEER, which no call has used yet. Returns
   * true when the rebuild made PEER unusable, so that another process must be started. */
  async prepare(peer: Peer): Promise<boolean> {
    // A start file (--init), which is loaded before the rebuild, has ended PEER. So the rebuild is not at fault.
    if (peer.dead) return false;
    if (!this.isRebuildWanted) {
      this.#lostSoonInARow = 0;
      return false;
    }
    this.#rebuild ??= new Rebuild(this.journal, this.#times);
    if (this.#attempts++ >= ATTEMPT_LIMIT) {
      this.#rebuild.giveUp();
      this.#lostSoonInARow = 0;
      return false;
    }
    const isRebuilt = await this.#rebuild.run(peer);
    if (!isRebuilt) return true;
    // No user has seen the definitions that the answers of the rebuild listed as missing from their files.
    await peer.request('nothing-listed', {}).answer;
    this.#life.rebuiltAt = performance.now();
    return false;
  }

  /** Records that the server ends, and with it the image. */
  close(): void {
    this.#rebuild?.abandon();
  }

  /** Handles JOB_REPORT. READY is false when the image that sent it is still being prepared for calls. */
  handleJobReport(jobReport: JobReport, ready: boolean): void {
    if (jobReport.kind === 'reached')
      this.#rebuild?.reached(jobReport.job, jobReport.index, jobReport.probing);
    else if (ready) this.recorder.built(jobReport.job, jobReport.built);
  }

  /** PEER will perform the operation NAME with ARGS. Resolves with a function that records the operation in the
   * journal; call it with the answer. */
  answerRecorder(peer: Peer, name: string, args: object): Promise<(job: number, answer: Answer) => void> {
    return this.recorder.answerRecorder(
      name,
      args,
      (entry, names) => void this.#addDigests(peer, entry, names),
    );
  }

  /** Records that code in the image has registered the tool that clients call NAME. READY is false when the image is
   * still being prepared for calls, as during a rebuild. */
  registeredTool(name: string, ready: boolean): void {
    if (ready) this.recorder.registeredTool(name);
    else this.#rebuild?.registeredTool(name);
  }

  /** Returns the report of the losses since the last report; undefined when there were none. It may be called only when
   * the image that replaces the lost one is ready. */
  takeReport(): LossReport | undefined {
    if (this.#losses.length === 0) return undefined;
    const rebuilt = this.#rebuild?.result;
    this.#lastReport = {
      time: new Date().toISOString(),
      how: this.#losses,
      held: this.#lostContents,
      replay: this.journal.isEnabled,
      ...(rebuilt && { rebuilt }),
      ...(this.#damaged > 0 && { damaged: this.#damaged }),
      ...(this.#forgotten > 0 && { forgotten: this.#forgotten }),
      ...(this.#lostSoonInARow >= SUSPICIOUS_LOSSES && { barren: this.#lostSoonInARow }),
    };
    this.#damaged = 0;
    this.#forgotten = 0;
    this.#losses = [];
    this.#lostContents = emptyContents();
    this.#rebuild = undefined;
    this.#attempts = 0;
    return this.#lastReport;
  }

  async #addDigests(peer: Peer, entry: SystemEntry, names: string[]): Promise<void> {
    if (!this.journal.isEnabled) return;
    const { data } = await peer.request('system-files', { names }).answer;
    const files = Array.isArray(data.value) ? data.value : [];
    entry.files = await this.journal.files.digestsOf(files.filter((file) => typeof file === 'string'));
  }
}
