// Records the steps that built the image, in order, so that a lost image can be rebuilt.

import { messageOf } from '../../errors.ts';
import { digestOf } from '../../files/digest.ts';
import type { Ending } from '../wire/endings.ts';
import { isDeeper } from '../wire/frames.ts';
import type { Answer, ImageChange } from '../wire/messages.ts';
import type {
  Agreement,
  EvaluateData,
  FormEntry,
  LoadFileData,
  LoadFilesData,
  LoadSystemData,
  Operations,
} from '../wire/operations.ts';
import { LoadedFileReader } from './digests.ts';
import {
  digestLeft,
  isOfFile,
  type JournalEntry,
  type JournalStore,
  labelOf,
  replaces,
  type SystemEntry,
  sizeOf,
} from './entries.ts';
import { addForm, addName, emptyContents, type ImageContents, type JournalNote } from './report.ts';

/** Maximum number of entries that the journal keeps. */
const ENTRY_LIMIT = 20_000;
/** Maximum number of characters of all entries together. */
const TEXT_LIMIT = 32 * 1024 * 1024;

/** Maximum number of running evaluations, and of unfinished forms and loads, that the journal tracks. Far
 *  fewer run at the same time. */
const JOB_LIMIT = 1000;

/** Receives the answer of an operation, and the id of its job. */
type AnswerRecorder = (job: number, answer: Answer) => void;

export class Journal {
  readonly #store: JournalStore | undefined;
  #entries: JournalEntry[] = [];
  #characters = 0;
  #contents: ImageContents = emptyContents();
  /** For each running evaluation (by job id), how many of its forms the agent has reported. */
  readonly #reportedForms = new Map<number, number>();
  /** Labels of the forms and loads that have begun to change the image and have not ended. The key of a form
   *  is its number, the key of a load its label. */
  readonly #unfinished = new Map<number | string, string>();
  readonly #notes: JournalNote[] = [];
  #full = false;
  /** True when the entries include those of the previous server. */
  #hasPrevious = false;
  #storeFailed = false;

  /** Reads the files that were loaded. */
  readonly files: LoadedFileReader;

  /** Keeps the entries in STORE. Without STORE, the journal keeps no entries, and only records what the image
   *  holds, for the report of a loss. FILES reads the files that were loaded. */
  constructor(store: JournalStore | undefined, files = new LoadedFileReader()) {
    this.#store = store;
    this.files = files;
  }

  /** True when a lost image will be rebuilt. */
  get isEnabled(): boolean {
    return this.#store !== undefined;
  }

  /** The entries that built the image, in order. */
  get entries(): readonly JournalEntry[] {
    return this.#entries;
  }

  /** What the image holds now, as the report of its loss would list it. */
  get contents(): Readonly<ImageContents> {
    return this.#contents;
  }

  /** The systems and the files that calls have loaded, each once, in the order of their first loads. */
  get loads(): { systems: string[]; files: string[] } {
    const { systems, files } = this.#contents;
    if (!this.isEnabled) return { systems, files };
    const named = (read: (entry: JournalEntry) => string | undefined) => [
      ...new Set(this.#entries.flatMap((entry) => read(entry) ?? [])),
    ];
    return {
      systems: named((entry) => (entry.kind === 'system' ? entry.name : undefined)),
      files: named((entry) => ('path' in entry ? entry.path : undefined)),
    };
  }

  /** Returns the problems of the journal since the last call of this function. */
  takeNotes(): JournalNote[] {
    return this.#notes.splice(0);
  }

  /** Returns what the lost image held, and begins to record the contents of the next image. The entries
   *  stay. */
  takeContents(): ImageContents {
    const contents = this.#contents;
    for (const what of this.#unfinished.values()) addForm(contents.unfinished, what);
    this.#unfinished.clear();
    this.#contents = emptyContents();
    this.#reportedForms.clear();
    return contents;
  }

  /** Forgets all entries. */
  clear(): void {
    this.#hasPrevious = false;
    this.#empty();
  }

  #empty(): void {
    this.#entries = [];
    this.#characters = 0;
    this.#full = false;
    this.#write((store) => store.clear());
  }

  /** Puts the entries of the previous server before the entries of this one, unless this was done before.
   *  Returns how many lines of the previous journal were damaged; undefined when there is no such journal. */
  takePrevious(): number | undefined {
    if (this.#hasPrevious) return 0;
    const previous = this.#store?.previous();
    if (previous === undefined) return undefined;
    const own = this.#entries;
    this.#empty();
    this.#hasPrevious = true;
    for (const entry of previous.entries) {
      const digest = 'digest' in entry ? entry.digest : undefined;
      const content = digest && previous.content(digest);
      if (digest && content) this.keep(digest, content);
      this.add(entry);
    }
    for (const entry of own) this.add(entry);
    return previous.damaged;
  }

  /** True when NOW, the content of the file PATH, is the content that was loaded last, or the content that
   *  the last edit of definitions left in the file. A rebuild repeats loads and edits. */
  hasAsLoaded(path: string, now: Buffer | undefined): boolean {
    const last = this.#entries.findLast((entry) => isOfFile(entry, path));
    const digest = last && digestLeft(last, path);
    return digest !== undefined && now !== undefined && digest === digestOf(now);
  }

  /** Removes ENTRY, also from the store, which is rewritten for this. */
  drop(entry: JournalEntry): void {
    const others = this.#entries.filter((each) => each !== entry);
    this.#empty();
    for (const each of others) this.add(each);
  }

  /** Records BUILT, the changes that a form of JOB made to the image. */
  built(job: number, built: ImageChange): void {
    const { text, inPackage, damages, unfinished, set, reads, opens, closes, ...facts } = built;
    if (typeof opens === 'number') {
      keepNewest(this.#unfinished, opens, String(unfinished));
      return;
    }
    this.#unfinished.delete(Number(closes));
    const known = [text, inPackage, damages, unfinished].some((each) => each !== undefined);
    if (known && !Number.isNaN(job)) this.#count(job);
    if (typeof text === 'string') {
      const entry = formEntry(text, facts);
      if (namesIn(reads).some((name) => this.#contents.variables.includes(name))) {
        addForm(this.#contents.differing, labelOf(entry));
      }
      this.add(entry);
    }
    if (typeof inPackage === 'string') this.add({ kind: 'package', inPackage });
    if (typeof damages === 'string') addForm(this.#contents.damages, damages);
    if (typeof unfinished === 'string') addForm(this.#contents.unfinished, unfinished);
    for (const name of namesIn(set)) addName(this.#contents.variables, name);
  }

  #count(job: number): void {
    keepNewest(this.#reportedForms, job, (this.#reportedForms.get(job) ?? 0) + 1);
  }

  /** Returns a callback for the answer of the operation NAME, which is about to be performed with ARGS.
   *  Before it returns, reads the files that the operation will load. After a system was loaded, LOADED
   *  receives its entry and the names of all systems that were loaded with it. */
  async answerRecorder(
    name: string,
    args: object,
    loaded: (entry: SystemEntry, names: string[]) => void,
  ): Promise<AnswerRecorder> {
    const onEnd = await this.#watchEnd(name, args, loaded);
    const loadLabel = labelOfLoad(name, args);
    return (job, answer) => {
      const { ending, data } = answer;
      if (loadLabel !== undefined) this.#unfinished.delete(loadLabel);
      // An operation that is stopped at a held error has not ended.
      if ('held' in data) {
        if (loadLabel !== undefined) keepNewest(this.#unfinished, loadLabel, loadLabel);
      } else if (ending.kind !== 'lost') onEnd(job, answer);
      else if (loadLabel !== undefined && !ending.notBegun) addForm(this.#contents.unfinished, loadLabel);
    };
  }

  /** Returns the callback for the answer of the operation NAME. It is called when the operation has ended and
   *  the image still lives. */
  async #watchEnd(
    name: string,
    args: object,
    loaded: (entry: SystemEntry, names: string[]) => void,
  ): Promise<AnswerRecorder> {
    if (name === 'evaluate') return (job, { data }) => this.#evaluated(job, data as EvaluateData);
    if (name === 'load-file') {
      const { file } = args as { file: string };
      const content = await this.#contentOf(file);
      return (_, { data: loadData, ending }) => {
        const data = loadData as LoadFileData;
        this.#loadedFile(file, data, ending.kind, data.value?.agreement?.gone !== undefined, content);
      };
    }
    if (name === 'load-files') {
      const { files } = args as { files: string[] };
      const contents = new Map<string, Buffer | undefined>();
      for (const file of files) contents.set(file, await this.#contentOf(file));
      return (_, { data }) => {
        // `load-files` also removes the definitions that are no longer in the files, so a rebuild must do so
        // too.
        for (const value of (data as LoadFilesData).value ?? [])
          this.#loadedFile(value.file, { value }, 'done', true, contents.get(value.file));
      };
    }
    if (name === 'load-forms') {
      const { file, content, numbers } = args as Operations['load-forms']['args'];
      const whole = await this.#contentOf(file);
      return (_, { data, ending }) =>
        this.#loadedForms(file, data as LoadFileData, ending.kind, {
          content: Buffer.from(content, 'latin1'),
          numbers,
          whole,
        });
    }
    if (name === 'load-system') {
      return (_, { data, ending }) => {
        const { value, wentOnBy } = data as LoadSystemData;
        const entry =
          ending.kind === 'done' &&
          value?.system !== undefined &&
          value.missing === undefined &&
          this.#loadedSystem(value.system, value.loaded, wentOnBy);
        if (entry) loaded(entry, value?.loaded?.length ? value.loaded : [entry.name]);
      };
    }
    return () => {};
  }

  /** Returns the content of FILE; undefined when it cannot be read, or lost images are not rebuilt. */
  async #contentOf(file: string): Promise<Buffer | undefined> {
    return this.isEnabled ? this.files.read(file) : undefined;
  }

  /** Records that code registered the tool that clients call NAME. */
  registeredTool(name: string): void {
    addName(this.#contents.tools, name);
  }

  /** Appends ENTRY. First removes the last entry, and those before it, as long as ENTRY makes them
   *  superfluous. */
  add(entry: JournalEntry): void {
    if (!this.isEnabled || this.#full) return;
    for (let last = this.#entries.at(-1); last && replaces(entry, last); last = this.#entries.at(-1)) {
      this.#entries.pop();
      this.#characters -= sizeOf(last);
    }
    this.#characters += sizeOf(entry);
    if (this.#entries.length >= ENTRY_LIMIT || this.#characters > TEXT_LIMIT) {
      this.#full = true;
      this.#notes.push({ kind: 'journal full', entries: this.#entries.length });
      return;
    }
    this.#entries.push(entry);
    this.#write((store) => store.append(entry));
  }

  /** Stores CONTENT, the content of a loaded file, under DIGEST. */
  keep(digest: string, content: Buffer): void {
    this.#write((store) => store.keep(digest, content));
  }

  /** Returns the content with this DIGEST, or undefined when it was not stored. */
  content(digest: string): Buffer | undefined {
    return this.#store?.content(digest);
  }

  #write(act: (store: JournalStore) => void): void {
    try {
      if (this.#store) act(this.#store);
    } catch (error) {
      if (!this.#storeFailed) this.#notes.push({ kind: 'journal unwritable', why: messageOf(error) });
      this.#storeFailed = true;
    }
  }

  #evaluated(job: number, { values = [], formNumber = 0, unreadable }: EvaluateData): void {
    this.#contents.evaluations++;
    // A form that signalled an error or was interrupted counts as well, because it had begun.
    const started = unreadable ? values.length : Math.max(values.length, formNumber);
    this.#contents.notRun += Math.max(0, started - (this.#reportedForms.get(job) ?? 0));
    this.#reportedForms.delete(job);
  }

  #loadedFile(
    file: string,
    { value, phase, wentOnBy }: LoadFileData,
    endingKind: Ending['kind'],
    forget: boolean,
    content: Buffer | undefined,
  ): void {
    if ((value?.notLoaded && !value.begun) || (endingKind !== 'done' && phase !== 'load')) return;
    const path = value?.file ?? file;
    addName(this.#contents.files, path);
    const digest = content && digestOf(content);
    if (content && digest !== undefined) this.keep(digest, content);
    this.add({
      kind: 'file',
      path,
      ...(digest !== undefined && { digest }),
      ...(endingKind !== 'done' || value?.begun
        ? partialLoad(endingKind)
        : leavesNothing(value?.agreement) && { complete: true }),
      ...(forget && { forget }),
      ...restartsIn(wentOnBy),
    });
  }

  #loadedForms(
    path: string,
    { value, phase }: LoadFileData,
    endingKind: Ending['kind'],
    {
      content,
      numbers,
      whole,
    }: { content: Buffer; numbers: readonly (number | null)[]; whole: Buffer | undefined },
  ): void {
    if (value?.notLoaded || (endingKind !== 'done' && phase !== 'load')) return;
    addName(this.#contents.files, path);
    const digest = digestOf(content);
    this.keep(digest, content);
    this.add({
      kind: 'forms',
      path,
      digest,
      ...(whole && { whole: digestOf(whole) }),
      numbers,
      ...(endingKind !== 'done' && partialLoad(endingKind)),
    });
  }

  #loadedSystem(name: string, loaded: string[] = [], wentOnBy?: string[]): SystemEntry {
    for (const each of loaded) addName(this.#contents.systems, each);
    const entry: SystemEntry = { kind: 'system', name, ...restartsIn(wentOnBy) };
    this.add(entry);
    return entry;
  }
}

/** Returns the label of the load that the operation NAME performs with ARGS; undefined for other
 *  operations. */
function labelOfLoad(name: string, args: object): string | undefined {
  const { file: path = '', name: system = '' } = args as { file?: string; name?: string };
  if (name === 'load-file') return labelOf({ kind: 'file', path });
  if (name === 'load-forms') return labelOf({ kind: 'forms', path, digest: '', numbers: [] });
  return name === 'load-system' ? labelOf({ kind: 'system', name: system }) : undefined;
}

/** Sets KEY to VALUE in MAP. When MAP has JOB_LIMIT keys, removes the oldest key first. */
function keepNewest<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): void {
  const [oldest] = map.keys();
  if (oldest !== undefined && map.size >= JOB_LIMIT) map.delete(oldest);
  map.set(key, value);
}

/** Returns the properties of the entry of a load that did not reach its end. HOW is the kind of its
 *  ending. */
function partialLoad(how: Ending['kind']): { partial: true; cut?: true } {
  return { partial: true, ...(how === 'interrupted' && { cut: true }) };
}

/** True when AGREEMENT, which the agent reports after a load, says that nothing of an earlier load of the
 *  file is left in the image. */
function leavesNothing({ old, unset, left }: Agreement = {}): boolean {
  return old === undefined && unset === undefined && left === undefined;
}

/** Returns the entry of the form TEXT, with the other members that the agent sent, which are unchecked
 *  values. */
function formEntry(
  text: string,
  { package: home, without, readtable, policy, defines, restarts }: ImageChange,
): { kind: 'form' } & FormEntry {
  return {
    kind: 'form',
    text,
    package: typeof home === 'string' ? home : 'COMMON-LISP-USER',
    ...(isTable(without) && { without }),
    ...(typeof readtable === 'string' && { readtable }),
    ...(isTable(policy) && { policy }),
    ...(Array.isArray(defines) && { defines: namesIn(defines) }),
    ...restartsIn(restarts),
  };
}

/** True when VALUE is an array with little nesting. Code in the image can send an array that is nested too
 *  deeply for JSON. */
function isTable(value: unknown): value is never[] {
  return Array.isArray(value) && !isDeeper(value, 4);
}

/** Returns the names in RESTARTS, an unchecked value, as the property `restarts` of an entry; {} when there
 *  are none. */
function restartsIn(restarts: unknown): { restarts?: string[] } {
  const names = namesIn(restarts);
  return names.length > 0 ? { restarts: names } : {};
}

/** Returns the strings in MEMBER, an unchecked value; [] when it is no array. */
function namesIn(member: unknown): string[] {
  return Array.isArray(member) ? member.filter((each) => typeof each === 'string') : [];
}
