// Decides when a lost image is built again, and how often that is tried.

import { CallError } from '../../errors.ts';
import type { Answer, Told } from '../wire/messages.ts';
import type { Peer } from '../wire/peer.ts';
import { TIMES, type Times } from '../wire/times.ts';
import type { LoadedFiles } from './digests.ts';
import type { JournalStore, SystemEntry } from './entries.ts';
import { Journal } from './journal.ts';
import { Narrowing } from './narrowing.ts';
import { Rebuild } from './rebuild.ts';
import { addHeld, type LossReport, nothingHeld } from './report.ts';

/** How often a rebuild may end the new image, and how many images in a row may be lost before anybody used them. */
const ATTEMPTS = 3;
/** How many images in a row are lost soon before that is told. */
const SUSPICIOUS = 2;
/** Of several images that were lost before anybody could be told, how many are told of. */
const LOSSES_TOLD = 5;

export class Recovery {
  readonly journal: Journal;
  readonly #times: Times;
  #losses: string[] = [];
  /** What the lost images held that nobody was told of yet. */
  #held = nothingHeld();
  #rebuild: Rebuild | undefined;
  #attempts = 0;
  /** Whether the image was built again, whether a call used it, and how many in a row no call did. */
  #built = false;
  #used = false;
  #unused = 0;
  /** When it was built, and whether a call has ended in it. */
  #builtAt = 0;
  #worked = false;
  /** How many in a row were built again and lost soon after, and how many of these no call has ended. */
  #barren = 0;
  #unasked = 0;
  /** Lines of the journal of a server before that could not be read. */
  #damaged = 0;
  /** Entries that are not built again, as somebody asked. */
  #forgotten = 0;
  /** What is told of the last loss and what it took. */
  #last: LossReport | undefined;

  /** Without STORE no image is built again. */
  constructor(store: JournalStore | undefined, times: Times = TIMES, files?: LoadedFiles) {
    this.#times = times;
    this.journal = new Journal(store, files);
  }

  /** What the last loss took, and what was built again; undefined before the first. */
  get lastLoss(): LossReport | undefined {
    return this.#last;
  }

  /** How images were lost that nobody was told of yet. */
  get untold(): readonly string[] {
    return this.#losses;
  }

  /** How far the rebuild is that is under way, as a phrase. */
  get progress(): string | undefined {
    return this.#rebuild?.progress;
  }

  /** Whether the next image is to be built as a lost one was. */
  get wanted(): boolean {
    return this.#losses.length > 0 && this.journal.entries.length > 0;
  }

  /** Takes that a call uses the image. */
  used(): void {
    this.#used = true;
  }

  /** Takes that a call has ended in the image, which lives. */
  worked(): void {
    this.#worked = true;
  }

  /** Takes that the image was lost; HOW is part of a sentence. BY_CALL says that a call asked for that, or was the reason.
   *  Returns whether it is to be built again at once: one that nobody used waits for a call. */
  lost(how: string, byCall = false): boolean {
    this.#losses = [...this.#losses, how].slice(-LOSSES_TOLD);
    addHeld(this.#held, this.journal.lose());
    const wasUsed = this.#used;
    this.#used = false;
    if (wasUsed) this.#unused = 0;
    else if (this.#built) this.#unused++;
    if (this.#built && !this.#lostSoon(wasUsed)) this.#suspectNothing();
    else if (this.#built) {
      this.#barren++;
      if (!byCall) this.#unasked++;
    }
    this.#built = false;
    this.#worked = false;
    return wasUsed && this.wanted;
  }

  /** Whether the image, which was built again and is lost, can have been lost because of that. */
  #lostSoon(wasUsed: boolean): boolean {
    return performance.now() - this.#builtAt < this.#times.soon || (wasUsed && !this.#worked);
  }

  #suspectNothing(): void {
    this.#barren = 0;
    this.#unasked = 0;
  }

  /** Makes REBUILD what the next image is built from. Throws a CallError when that is not there. */
  choose(rebuild: 'session' | 'none' | 'previous'): void {
    // What is ended on request proves nothing against what it was built with.
    this.#suspectNothing();
    this.#builtAt = Number.NEGATIVE_INFINITY;
    this.#worked = true;
    if (rebuild === 'session') return;
    if (!this.journal.on) {
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
      throw new CallError('There is no journal of a server before in this workspace. Nothing was done.');
    }
    this.#damaged = damaged;
  }

  /** Builds PEER, which nobody has used yet, as the one before was, when one was lost. Returns whether it died of that
   *  or is broken, so that another is to be tried. */
  async prepare(peer: Peer): Promise<boolean> {
    // One that its start files have ended is nobody else's fault.
    if (peer.dead) return false;
    if (!this.wanted) {
      this.#suspectNothing();
      return false;
    }
    this.#rebuild ??= new Rebuild(this.journal, this.#times, this.#suspected());
    if (this.#attempts++ >= ATTEMPTS || this.#unused > ATTEMPTS) {
      this.#rebuild.giveUp();
      this.#unused = 0;
      this.#suspectNothing();
      return false;
    }
    const outcome = await this.#rebuild.run(peer);
    // To look more closely is no attempt that failed.
    if (outcome === 'narrowed') this.#attempts--;
    this.#built = outcome === 'built';
    this.#builtAt = performance.now();
    return !this.#built;
  }

  /** Returns how it is found out what ends the images that are built again, when something seems to. A hook can run in the
   *  thread of a call, and seem to be asked for. What has a thread of its own does not. */
  #suspected(): Narrowing | undefined {
    return this.#barren < SUSPICIOUS ? undefined : new Narrowing(this.#unasked > SUSPICIOUS);
  }

  /** Takes that the server ends, and the image with it. */
  close(): void {
    this.#rebuild?.abandon();
  }

  /** Takes TOLD, what code did; READY says that calls use the image that tells it. */
  tell(told: Told, ready: boolean): void {
    if (told.kind === 'reached') this.#rebuild?.reached(told.job, told.index, told.probing);
    else if (ready) this.journal.built(told.job, told.built);
  }

  /** Returns what to call with the answer of the operation NAME, which PEER is about to perform with ARGS. */
  watch(peer: Peer, name: string, args: object): Promise<(job: number, answer: Answer) => void> {
    return this.journal.watch(name, args, (entry, names) => void this.#note(peer, entry, names));
  }

  /** Takes the tool that clients call NAME; READY says that calls use the image that registered it. */
  registeredTool(name: string, ready: boolean): void {
    if (ready) this.journal.registeredTool(name);
    else this.#rebuild?.registeredTool(name);
  }

  /** Returns, once, what is to be told of losses; the image that took the place is ready. */
  takeReport(): LossReport | undefined {
    if (this.#losses.length === 0) return undefined;
    const rebuilt = this.#rebuild?.result;
    this.#last = {
      time: new Date().toISOString(),
      how: this.#losses,
      held: this.#held,
      replay: this.journal.on,
      ...(rebuilt && { rebuilt }),
      ...(this.#damaged > 0 && { damaged: this.#damaged }),
      ...(this.#forgotten > 0 && { forgotten: this.#forgotten }),
      ...(this.#barren >= SUSPICIOUS && { barren: this.#barren }),
    };
    this.#damaged = 0;
    this.#forgotten = 0;
    this.#losses = [];
    this.#held = nothingHeld();
    this.#rebuild = undefined;
    this.#attempts = 0;
    return this.#last;
  }

  /** Finds out what the files of the systems NAMES, which PEER has loaded, are, for ENTRY. */
  async #note(peer: Peer, entry: SystemEntry, names: string[]): Promise<void> {
    if (!this.journal.on) return;
    const { data } = await peer.request('system-files', { names }).answer;
    const files = Array.isArray(data.value) ? data.value : [];
    entry.files = await this.journal.files.digestsOf(files.filter((each) => typeof each === 'string'));
  }
}
