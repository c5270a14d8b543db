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
import { addContents, emptyContents, type ImageContents, type LossReport } from './report.ts';

/** Maximum number of attempts in a row to rebuild a lost image. An attempt has failed when the new image is lost during
 * the rebuild, or before the next call uses it. */
const ATTEMPT_LIMIT = 3;
/** When this many images in a row were lost soon after their rebuild, the rebuild may be the cause. */
const SUSPICIOUS_LOSSES = 2;
const MAX_REPORTED_LOSSES = 5;

/** What the next report of losses will tell, and the rebuild of the images that were lost since the last report. */
interface Unreported {
  /** The reasons of the losses. The oldest comes first. */
  losses: string[];
  contents: ImageContents;
  rebuild?: Rebuild;
  /** Number of rebuilds of the lost image, including planned ones. */
  attempts: number;
  /** Number of lines in the previous server's journal that could not be read. */
  damaged: number;
  /** Number of entries that were removed because the user asked for an image without them. */
  forgotten: number;
}

function nothingUnreported(): Unreported {
  return { losses: [], contents: emptyContents(), attempts: 0, damaged: 0, forgotten: 0 };
}

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
  #unreported = nothingUnreported();
  #life: ImageLife = { used: false, survivedCall: false };
  /** Number of images in a row that were lost soon after their rebuild. */
  #lostSoonInARow = 0;
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
    return this.#unreported.losses;
  }

  get progress(): string | undefined {
    return this.#unreported.rebuild?.progress;
  }

  get isRebuildWanted(): boolean {
    return this.#unreported.losses.length > 0 && this.journal.entries.length > 0;
  }

  noteUse(): void {
    this.#life.used = true;
  }

  noteSurvivedCall(): void {
    this.#life.survivedCall = true;
  }

  /** Records that the image was lost for the reason HOW, part of a sentence. Returns when the next image must be
   * started. An image in which no call ran, or that left nothing to rebuild, is replaced only when a call needs it. */
  noteLoss(how: string): 'rebuild at once' | 'wait for need' {
    const { losses, contents } = this.#unreported;
    this.#unreported.losses = [...losses, how].slice(-MAX_REPORTED_LOSSES);
    addContents(contents, this.recorder.takeContents());
    const { rebuiltAt, used, survivedCall, endIsWanted = false } = this.#life;
    this.#life = { used: false, survivedCall: false };
    if (rebuiltAt !== undefined) {
      // The rebuild may be the cause of the loss.
      const isLostSoon = performance.now() - rebuiltAt < this.#times.soon || (used && !survivedCall);
      this.#lostSoonInARow = isLostSoon && !endIsWanted ? this.#lostSoonInARow + 1 : 0;
    }
    return used && this.isRebuildWanted ? 'rebuild at once' : 'wait for need';
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
      this.#unreported.forgotten = this.journal.entries.length;
      this.journal.clear();
      return;
    }
    const damaged = this.journal.takePrevious();
    if (damaged === undefined) {
      throw new CallError('There is no journal of an earlier server in this workspace, so nothing was done.');
    }
    this.#unreported.damaged = damaged;
  }

  /** If an image was lost and is to be rebuilt, rebuilds it in the new image PEER, which no call has used yet. Resolves
   * with 'replace' when the rebuild made PEER unusable, so that another process must be started. */
  async rebuildIn(peer: Peer): Promise<'keep' | 'replace'> {
    // A start file (--init), which is loaded before the rebuild, has ended PEER. So the rebuild is not at fault.
    if (peer.dead) return 'keep';
    if (!this.isRebuildWanted) {
      this.#lostSoonInARow = 0;
      return 'keep';
    }
    this.#unreported.rebuild ??= new Rebuild(this.journal, this.#times);
    const { rebuild } = this.#unreported;
    if (this.#unreported.attempts++ >= ATTEMPT_LIMIT) {
      rebuild.giveUp();
      this.#lostSoonInARow = 0;
      return 'keep';
    }
    const isRebuilt = await rebuild.run(peer);
    if (!isRebuilt) return 'replace';
    // No user has seen the definitions that the answers of the rebuild listed as missing from their files.
    await peer.request('nothing-listed', {}).answer;
    this.#life.rebuiltAt = performance.now();
    return 'keep';
  }

  /** Records that the server ends, and with it the image. */
  close(): void {
    this.#unreported.rebuild?.abandon();
  }

  /** Handles JOB_REPORT. READY is false when the image that sent it is still being prepared for calls. */
  handleJobReport(jobReport: JobReport, ready: boolean): void {
    if (jobReport.kind === 'reached')
      this.#unreported.rebuild?.reached(jobReport.job, jobReport.index, jobReport.probing);
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
    else this.#unreported.rebuild?.registeredTool(name);
  }

  /** Returns the report of the losses since the last report; undefined when there were none. It may be called only when
   * the image that replaces the lost one is ready. */
  takeReport(): LossReport | undefined {
    const { losses, contents, rebuild, damaged, forgotten } = this.#unreported;
    if (losses.length === 0) return undefined;
    this.#unreported = nothingUnreported();
    this.#lastReport = {
      time: new Date().toISOString(),
      how: losses,
      held: contents,
      replay: this.journal.isEnabled,
      ...(rebuild && { rebuilt: rebuild.result }),
      ...(damaged > 0 && { damaged }),
      ...(forgotten > 0 && { forgotten }),
      ...(this.#lostSoonInARow >= SUSPICIOUS_LOSSES && { barren: this.#lostSoonInARow }),
    };
    return this.#lastReport;
  }

  async #addDigests(peer: Peer, entry: SystemEntry, names: string[]): Promise<void> {
    if (!this.journal.isEnabled) return;
    const { data } = await peer.request('system-files', { names }).answer;
    const files = Array.isArray(data.value) ? data.value : [];
    entry.files = await this.journal.files.digestsOf(files.filter((file) => typeof file === 'string'));
  }
}
