// Rebuilds a lost image in a new process: repeats the entries of the journal in order and within time limits, and skips
// entries that fail.

import { join } from 'node:path';
import { messageOf } from '../../errors.ts';
import { digestOf } from '../../files/digest.ts';
import { withTemporaryFolder } from '../../temporary-folder.ts';
import { enforceFairLimit } from '../wire/ending-steps.ts';
import { type Ending, endingAfter } from '../wire/endings.ts';
import type { AgentOperations, ReplayRemark } from '../wire/operations.ts';
import type { Peer } from '../wire/peer.ts';
import { TIMES, type Times } from '../wire/times.ts';
import { type Batch, type JournalEntry, labelOf, nextBatch } from './entries.ts';
import type { Journal } from './journal.ts';
import { addName, type Cause, causeOf, nothingBuilt, type Rebuilt, type Remark } from './report.ts';

export class Rebuild {
  readonly #journal: Journal;
  readonly #times: Times;
  readonly #startedAt = performance.now();
  /** True when the time for the whole rebuild was already up when the current form or load began. */
  #late = false;
  #runningJob: { job: number; reached: (index: number, probing: boolean) => void } | undefined;
  #abandoned = false;
  #done = 0;
  #total = 0;
  #result: Rebuilt = nothingBuilt();
  /** The entries that hung, ended the image or broke it, from all attempts to rebuild. */
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
    return `building the lost image again: ${this.#done} of ${this.#total}`;
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

  /** Records that the server is about to end the image, so that no entry is blamed for this. */
  abandon(): void {
    this.#abandoned = true;
  }

  /** Rebuilds the image in PEER. Returns true when PEER can be used. If it cannot, drops the entry at fault from the
   * journal and returns false. */
  async run(peer: Peer): Promise<boolean> {
    this.#result = nothingBuilt();
    this.#done = 0;
    const entries = [...this.#journal.entries];
    this.#total = entries.length;
    while (this.#done < entries.length && !this.#timeIsUp) {
      if (!(await this.#next(peer, entries))) return false;
    }
    this.#result.unreached = entries.length - this.#done;
    return true;
  }

  /** Repeats the next entry, or the next batch, of ENTRIES. Returns true when the image can still be used. */
  async #next(peer: Peer, entries: readonly JournalEntry[]): Promise<boolean> {
    const entry = entries[this.#done];
    if (entry === undefined) return true;
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
      this.#fail(labelOf(entry), { kind: 'text', text: messageOf(error) });
      this.#done++;
      return !peer.dead;
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

  /** Evaluates the forms of BATCH again. Returns true when the image can still be used. */
  async #replay(peer: Peer, batch: Batch): Promise<boolean> {
    const forms = batch.map(({ kind: _, ...form }) => form);
    // The agent reports each form before it evaluates the form, and each test of the image after a form.
    let [current, isProbing] = [0, false];
    const onReached = (reached: number, probing: boolean) => {
      isProbing = probing;
      if (forms[reached] === undefined || reached < current) return;
      this.#done += reached - current;
      current = reached;
    };
    const { data, ending } = await this.#job(peer, 'replay', { forms }, this.#times.rebuiltForm, onReached);
    const { failed: remarks = [] } = data;
    for (const remark of remarks) this.#remark(batch[remark.index], remark);
    const broken = remarks.some((remark) => remark.broken) || (isProbing && ending.kind === 'interrupted');
    const ended = ending.kind === 'done' && !broken;
    const replayed = batch.slice(0, ended ? batch.length : current);
    const evaluated = replayed.filter(({ kind }) => kind === 'form').length;
    this.#result.forms += evaluated - remarks.filter((remark) => !remark.broken).length;
    if (!ended) return this.#recordStop(batch[current], ending, broken);
    this.#done += batch.length - current;
    return true;
  }

  #remark(entry: JournalEntry | undefined, { why, missing }: ReplayRemark): void {
    if (entry === undefined) return;
    const what = labelOf(entry);
    if (missing) this.#result.missing.push({ what, cause: { kind: 'names missing', names: missing } });
    if (why !== undefined) this.#fail(what, { kind: 'text', text: why });
  }

  #loadFile(peer: Peer, entry: JournalEntry & { kind: 'file' }): Promise<boolean> {
    return withTemporaryFolder(async (folder) => {
      const source = await this.#sourceOf(entry);
      if (source === undefined) {
        this.#done++;
        return true;
      }
      const args = {
        ...source,
        fasl: join(folder, 'loaded.fasl'),
        ...(entry.forget && { forget: true as const }),
        ...(entry.restarts && { restarts: entry.restarts }),
      };
      const { data, ending } = await this.#job(peer, 'load-file', args, this.#loadLimit(entry));
      return this.#recordLoad(entry, ending, data.value?.notLoaded === true);
    });
  }

  #loadForms(peer: Peer, entry: JournalEntry & { kind: 'forms' }): Promise<boolean> {
    return withTemporaryFolder(async (folder) => {
      const content = this.#journal.content(entry.digest);
      const { path: file, numbers } = entry;
      const now = await this.#journal.files.read(file);
      if (content === undefined) {
        this.#fail(labelOf(entry), { kind: now === undefined ? 'file gone' : 'not kept' });
        this.#done++;
        return true;
      }
      this.#compare(file, now, 'kept');
      const args = { file, fasl: join(folder, 'loaded.fasl'), content: content.toString('latin1'), numbers };
      const { data, ending } = await this.#job(peer, 'load-forms', args, this.#loadLimit(entry));
      return this.#recordLoad(entry, ending, data.value?.notLoaded === true);
    });
  }

  /** Records the result of loading the file of ENTRY. Returns true when the image can still be used. */
  #recordLoad(
    entry: JournalEntry & { path: string; partial?: boolean },
    ending: Ending,
    notLoaded: boolean,
  ): boolean {
    const whole = ending.kind === 'done' && !notLoaded;
    // If only a part of the file was loaded before the loss, it is a success when this part is loaded.
    if (whole || (entry.partial && ending.kind !== 'lost')) addName(this.#result.files, entry.path);
    if (ending.kind === 'lost' || ending.kind === 'interrupted') return this.#recordStop(entry, ending);
    this.#done++;
    if (!whole && !entry.partial) this.#fail(labelOf(entry), causeOf(ending, 'not compiled'));
    return true;
  }

  /** Returns the file of an entry. If the file has changed since then, the result contains the content that was stored.
   * It is in the request itself, because an image in the sandbox may not see a copy on the disk. Returns undefined when
   * the file no longer exists and its content was not stored. */
  async #sourceOf({
    path,
    digest,
  }: JournalEntry & { kind: 'file' }): Promise<{ file: string; content?: string } | undefined> {
    const now = await this.#journal.files.read(path);
    if (digest === undefined || (now && digestOf(now) === digest)) return { file: path };
    const content = this.#journal.content(digest);
    if (content === undefined && now === undefined) {
      this.#fail(`load_file ${path}`, { kind: 'file gone' });
      return undefined;
    }
    this.#compare(path, now, content === undefined ? 'as it is now' : 'kept');
    return { file: path, ...(content && { content: content.toString('latin1') }) };
  }

  async #loadSystem(peer: Peer, entry: JournalEntry & { kind: 'system' }): Promise<boolean> {
    const changed = await this.#journal.files.changedSince(entry.files ?? {});
    const unknown: string[] = [];
    for (const file of changed)
      if (!this.#journal.hasAsLoaded(file, await this.#journal.files.read(file))) unknown.push(file);
    // ASDF compares the dates of files in whole seconds, so it may use an outdated fasl.
    const args = {
      name: entry.name,
      ...(changed.length > 0 && { force: true }),
      ...(entry.restarts && { restarts: entry.restarts }),
    };
    const { data, ending } = await this.#job(peer, 'load-system', args, this.#times.rebuiltLoad);
    if (ending.kind === 'lost' || ending.kind === 'interrupted') return this.#recordStop(entry, ending);
    this.#done++;
    const { value } = data;
    if (ending.kind !== 'done' || value?.missing !== undefined) {
      this.#fail(labelOf(entry), causeOf(ending, 'no such system'));
      return true;
    }
    addName(this.#result.systems, entry.name);
    if (unknown.length > 0) {
      this.#recordChange(`system ${entry.name}`, { kind: 'system changed', count: unknown.length });
    }
    return true;
  }

  /** Performs the operation NAME with ARGS, and interrupts it after LIMIT_MS milliseconds. The time begins again with
   * each report of the agent about the next form, or about a test of the image. REACHED is called with these
   * reports. */
  async #job<Name extends 'replay' | 'load-file' | 'load-forms' | 'load-system'>(
    peer: Peer,
    name: Name,
    args: AgentOperations[Name]['args'],
    limitMs: number,
    reached: (index: number, probing: boolean) => void = () => {},
  ): Promise<{ data: AgentOperations[Name]['data']; ending: Ending }> {
    let startedAt = performance.now();
    const { id, answer } = peer.request(name, args);
    const begin = (ms: number) => {
      this.#late = this.#timeIsUp;
      return enforceFairLimit(peer.job(id), this.#late ? 1 : ms, this.#times);
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
    return { data, ending: endingAfter(ending, performance.now() - startedAt) };
  }

  /** Drops ENTRY from this rebuild and from later ones, because it hung, ended the image, or left it BROKEN. Keeps
   * ENTRY if the reason was only that the time for the whole rebuild was up. Returns true when the image can still be
   * used. */
  #recordStop(entry: JournalEntry | undefined, ending: Ending, broken = false): boolean {
    const usable = ending.kind !== 'lost' && !broken;
    if (this.#abandoned) return usable;
    if (usable && this.#late) return true;
    this.#done++;
    if (entry === undefined) return usable;
    const cause: Cause =
      broken && ending.kind !== 'lost' ? { kind: 'image broken' } : causeOf(ending, 'not ended');
    this.#drop(entry, cause);
    return usable;
  }

  #drop(entry: JournalEntry, cause: Cause): void {
    this.#dropped.push({ what: labelOf(entry), cause, leftOut: true });
    this.#journal.drop(entry);
  }

  #fail(what: string, cause: Cause): void {
    this.#result.failed.push({ what, cause });
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
