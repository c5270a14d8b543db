// Rebuilds a lost image in a new process: repeats the entries of the journal in order and within time limits, and skips
// entries that fail.

import { join } from 'node:path';
import { messageOf } from '../../errors.ts';
import { digestOf } from '../../files/digest.ts';
import { withTemporaryFolder } from '../../temporary-folder.ts';
import { enforceFairLimit } from '../wire/ending-steps.ts';
import { type Ending, endingAfter } from '../wire/endings.ts';
import type { BackendOperations, ReplayRemark } from '../wire/operations.ts';
import type { Peer } from '../wire/peer.ts';
import { TIMES, type Times } from '../wire/times.ts';
import { type Batch, type JournalEntry, labelOf, nextBatch } from './entries.ts';
import type { Journal } from './journal.ts';
import { addName, type Cause, causeOf, nothingBuilt, type Rebuilt, type Remark } from './report.ts';

interface JobResult<Name extends keyof BackendOperations> {
  data: BackendOperations[Name]['data'];
  ending: Ending;
  /** True when the load, or the last form, began after the time for the whole rebuild was up. */
  isLate: boolean;
}

export class Rebuild {
  readonly #journal: Journal;
  readonly #times: Times;
  readonly #startedAt = performance.now();
  /** False when an entry has ended the image of the current attempt, or has left it broken. */
  #isUsable = true;
  #runningJob: { job: number; reached: (index: number, probing: boolean) => void } | undefined;
  #abandoned = false;
  /** Number of entries that this attempt has repeated, skipped or dropped. Also the index of the next entry. */
  #done = 0;
  #total = 0;
  #result: Rebuilt = nothingBuilt();
  /** The entries that hung, ended the image or broke it, in all attempts to rebuild. */
  readonly #dropped: Remark[] = [];

  constructor(journal: Journal, times: Times = TIMES) {
    this.#journal = journal;
    this.#times = times;
  }

  get result(): Rebuilt {
    const failed = [...this.#dropped, ...this.#result.failed];
    return { ...this.#result, failed, milliseconds: performance.now() - this.#startedAt };
  }

  get progress(): string {
    return `rebuilding the lost image: ${this.#done} of ${this.#total}`;
  }

  /** Records that the rebuild has registered again the tool that clients call NAME. */
  registeredTool(name: string): void {
    addName(this.#result.tools, name);
  }

  /** Records that the job JOB now evaluates the form INDEX (0-based) or, if PROBING is true, tests the image after this
   * form. */
  reached(job: number, index: number, probing: boolean): void {
    if (job === this.#runningJob?.job) this.#runningJob.reached(index, probing);
  }

  /** Sets the result to "nothing was rebuilt", because the image is lost again and again. */
  giveUp(): void {
    this.#result = { ...nothingBuilt(), gaveUp: true };
  }

  /** Records that the server is about to end the image. The rebuild then blames no entry of the journal for the
   * end. */
  abandon(): void {
    this.#abandoned = true;
  }

  /** Rebuilds the image in PEER. Returns true when PEER can be used. If it cannot, drops the entry at fault from the
   * journal and returns false. The caller then calls `run` again with another process: the next attempt. */
  async run(peer: Peer): Promise<boolean> {
    this.#result = nothingBuilt();
    this.#isUsable = true;
    this.#done = 0;
    const entries = [...this.#journal.entries];
    this.#total = entries.length;
    for (let next = entries[0]; next !== undefined && !this.#timeIsUp; next = entries[this.#done]) {
      await this.#repeat(peer, next, entries);
      if (!this.#isUsable) return false;
    }
    this.#result.unreached = entries.length - this.#done;
    return true;
  }

  /** Repeats in PEER what ENTRY of the journal records: a load, or a batch of forms that begins with ENTRY. ENTRY is
   * the next one of ENTRIES. */
  async #repeat(peer: Peer, entry: JournalEntry, entries: readonly JournalEntry[]): Promise<void> {
    try {
      switch (entry.kind) {
        case 'file':
          return await this.#loadFile(peer, entry);
        case 'forms':
          return await this.#loadForms(peer, entry);
        case 'system':
          return await this.#loadSystem(peer, entry);
        case 'form':
        case 'package':
          return await this.#replay(peer, nextBatch(entries, this.#done));
      }
    } catch (error) {
      // For example, the disk has no space for a file, or the request is too long for a frame.
      this.#skip(entry, { kind: 'text', text: messageOf(error) });
      this.#isUsable = !peer.dead;
    }
  }

  get #timeIsUp(): boolean {
    return performance.now() - this.#startedAt >= this.#times.rebuild;
  }

  /** Returns the time limit of a load, in milliseconds. It is shorter for a load that was interrupted before, because
   * this load is likely to hang again. */
  #loadLimit({ cut }: { cut?: boolean }): number {
    return cut ? this.#times.rebuiltForm : this.#times.rebuiltLoad;
  }

  /** Evaluates the forms of BATCH again. */
  async #replay(peer: Peer, batch: Batch): Promise<void> {
    const forms = batch.map(({ kind: _, ...form }) => form);
    // The backend reports when it is about to evaluate a form. It also reports, with `probing`, when it is about to
    // test whether the image still works after a form.
    let [current, isProbing] = [0, false];
    const onReached = (reached: number, probing: boolean) => {
      isProbing = probing;
      if (forms[reached] === undefined || reached < current) return;
      this.#done += reached - current;
      current = reached;
    };
    const result = await this.#job(peer, 'replay', { forms }, this.#times.rebuiltForm, onReached);
    const { ending, data } = result;
    const { failed: remarks = [] } = data;
    for (const remark of remarks) this.#remark(batch[remark.index], remark);
    const isBroken = remarks.some(({ broken }) => broken) || (isProbing && ending.kind === 'interrupted');
    const isComplete = ending.kind === 'done' && !isBroken;
    // Counted are the forms that were evaluated without a remark. The form that broke the image is not in `replayed`, so
    // its remark is not subtracted.
    const replayed = batch.slice(0, isComplete ? batch.length : current);
    const evaluated = replayed.filter(({ kind }) => kind === 'form').length;
    this.#result.forms += evaluated - remarks.filter(({ broken }) => !broken).length;
    if (isComplete) this.#done += batch.length - current;
    else this.#recordStop(batch[current], result, isBroken);
  }

  #remark(entry: JournalEntry | undefined, { why, missing }: ReplayRemark): void {
    if (entry === undefined) return;
    const what = labelOf(entry);
    if (missing) this.#result.missing.push({ what, cause: { kind: 'names missing', names: missing } });
    if (why !== undefined) this.#result.failed.push({ what, cause: { kind: 'text', text: why } });
  }

  #loadFile(peer: Peer, entry: JournalEntry & { kind: 'file' }): Promise<void> {
    return withTemporaryFolder(async (folder) => {
      const source = await this.#sourceOf(entry);
      if (source === undefined) return this.#skip(entry, { kind: 'file gone' });
      const args = {
        ...source,
        fasl: join(folder, 'loaded.fasl'),
        ...(entry.forget && { forget: true as const }),
        ...(entry.restarts && { restarts: entry.restarts }),
      };
      this.#recordLoad(entry, await this.#job(peer, 'load-file', args, this.#loadLimit(entry)));
    });
  }

  #loadForms(peer: Peer, entry: JournalEntry & { kind: 'forms' }): Promise<void> {
    return withTemporaryFolder(async (folder) => {
      const content = this.#journal.content(entry.digest);
      const { path: file, numbers } = entry;
      const now = await this.#journal.files.read(file);
      if (content === undefined)
        return this.#skip(entry, { kind: now === undefined ? 'file gone' : 'not kept' });
      this.#compare(file, now, 'kept');
      const args = { file, fasl: join(folder, 'loaded.fasl'), content: content.toString('latin1'), numbers };
      this.#recordLoad(entry, await this.#job(peer, 'load-forms', args, this.#loadLimit(entry)));
    });
  }

  /** Records the result of loading the file of ENTRY. */
  #recordLoad(
    entry: JournalEntry & { path: string; partial?: boolean },
    result: JobResult<'load-file' | 'load-forms'>,
  ): void {
    const { data, ending } = result;
    const isWhole = ending.kind === 'done' && data.value?.notLoaded !== true;
    // If the file was loaded only in part before the loss, a load of this part is a success.
    if (isWhole || (entry.partial && ending.kind !== 'lost')) addName(this.#result.files, entry.path);
    if (hasStopped(ending)) this.#recordStop(entry, result);
    else if (isWhole || entry.partial) this.#done++;
    else this.#skip(entry, causeOf(ending, 'not compiled'));
  }

  /** Returns the file of an entry. If the file has changed since it was loaded, the result also contains the old
   * content, if this was stored. The request contains this content itself, because an image in the sandbox may not see
   * a copy on the disk. It has a character for each octet ('latin1'). Returns undefined when the file no longer exists
   * and its content was not stored. */
  async #sourceOf({
    path,
    digest,
  }: JournalEntry & { kind: 'file' }): Promise<{ file: string; content?: string } | undefined> {
    const now = await this.#journal.files.read(path);
    if (digest === undefined || (now && digestOf(now) === digest)) return { file: path };
    const content = this.#journal.content(digest);
    if (content === undefined && now === undefined) return undefined;
    this.#compare(path, now, content === undefined ? 'as it is now' : 'kept');
    return { file: path, ...(content && { content: content.toString('latin1') }) };
  }

  async #loadSystem(peer: Peer, entry: JournalEntry & { kind: 'system' }): Promise<void> {
    const changed = await this.#journal.files.changedSince(entry.files ?? {});
    // A changed file is not reported if another entry records a load of its present content.
    const unknown: string[] = [];
    for (const file of changed)
      if (!this.#journal.hasAsLoaded(file, await this.#journal.files.read(file))) unknown.push(file);
    // ASDF compares the dates of files in whole seconds. So, without `force`, it may load the fasl of an older content.
    const args = {
      name: entry.name,
      ...(changed.length > 0 && { force: true }),
      ...(entry.restarts && { restarts: entry.restarts }),
    };
    const result = await this.#job(peer, 'load-system', args, this.#times.rebuiltLoad);
    const { data, ending } = result;
    if (hasStopped(ending)) return this.#recordStop(entry, result);
    if (ending.kind !== 'done' || data.value?.missing !== undefined)
      return this.#skip(entry, causeOf(ending, 'no such system'));
    this.#done++;
    addName(this.#result.systems, entry.name);
    if (unknown.length > 0)
      this.#recordChange(`system ${entry.name}`, { kind: 'system changed', count: unknown.length });
  }

  /** Performs the operation NAME with ARGS, and interrupts it after LIMIT_MS milliseconds. The time begins again with
   * each report of the backend about the next form, or about a test of the image. REACHED is called with these
   * reports. */
  async #job<Name extends 'replay' | 'load-file' | 'load-forms' | 'load-system'>(
    peer: Peer,
    name: Name,
    args: BackendOperations[Name]['args'],
    limitMs: number,
    reached: (index: number, probing: boolean) => void = () => {},
  ): Promise<JobResult<Name>> {
    let startedAt = performance.now();
    let isLate = false;
    const { id, answer } = peer.request(name, args);
    const begin = (ms: number) => {
      // `run` begins no entry when the time is up. But the next form of a batch can begin then: 1 ms ends it.
      isLate = this.#timeIsUp;
      return enforceFairLimit(peer.job(id), isLate ? 1 : ms, this.#times);
    };
    let unwatch = begin(limitMs);
    this.#runningJob = {
      job: id,
      reached: (index, probing) => {
        unwatch();
        startedAt = performance.now();
        reached(index, probing);
        unwatch = begin(probing ? this.#times.probe : limitMs);
      },
    };
    const { data, ending } = await answer.finally(() => unwatch());
    this.#runningJob = undefined;
    return { data, ending: endingAfter(ending, performance.now() - startedAt), isLate };
  }

  /** Drops ENTRY from this rebuild and from later ones, because it hung, ended the image, or left it broken. Keeps
   * ENTRY, as one that was not reached, if the reason was only that the time for the whole rebuild was up, or that the
   * server ended the image. In both cases `run` ends: the time is up, or its next request finds the image lost. */
  #recordStop(
    entry: JournalEntry | undefined,
    { ending, isLate }: Pick<JobResult<'replay'>, 'ending' | 'isLate'>,
    isBroken = false,
  ): void {
    this.#isUsable = ending.kind !== 'lost' && !isBroken;
    if (this.#abandoned || (this.#isUsable && isLate)) return;
    this.#done++;
    if (entry === undefined) return;
    const cause: Cause =
      isBroken && ending.kind !== 'lost' ? { kind: 'image broken' } : causeOf(ending, 'not ended');
    this.#dropped.push({ what: labelOf(entry), cause, leftOut: true });
    this.#journal.drop(entry);
  }

  /** Records CAUSE as the reason why ENTRY could not be restored, and counts ENTRY as done. */
  #skip(entry: JournalEntry, cause: Cause): void {
    this.#result.failed.push({ what: labelOf(entry), cause });
    this.#done++;
  }

  /** If NOW, the content of the file PATH, differs from its content at its last load, records this, once for each file.
   * AGAIN says which content the rebuild loads. */
  #compare(path: string, now: Buffer | undefined, again: 'kept' | 'as it is now'): void {
    if (this.#journal.hasAsLoaded(path, now) || this.#result.changed.some(({ what }) => what === path))
      return;
    this.#recordChange(path, { kind: 'file changed', gone: now === undefined, again });
  }

  #recordChange(what: string, cause: Cause): void {
    this.#result.changed.push({ what, cause });
  }
}

/** Returns true when the image was lost during a load, or when the load was interrupted. */
function hasStopped({ kind }: Ending): boolean {
  return kind === 'lost' || kind === 'interrupted';
}
