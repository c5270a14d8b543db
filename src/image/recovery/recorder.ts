// Records the changes that calls make in the image: in the journal, from which a lost image is built again, and in a
// list of what the image contains, for the report to the model when it is lost.

import { digestOf } from '../../files/digest.ts';
import { isDeeper } from '../../json.ts';
import type { Ending } from '../wire/endings.ts';
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
import { type JournalEntry, labelOf, type SystemEntry } from './entries.ts';
import type { Journal } from './journal.ts';
import { addForm, addName, emptyContents, type ImageContents } from './report.ts';

/** Maximum number of evaluations, and of unfinished forms and loads, that are tracked. Far fewer run at the same
 * time. */
const JOB_LIMIT = 1000;

type AnswerRecorder = (job: number, answer: Answer) => void;

/** Called with the entry of a system that was loaded, and the names of all systems that were loaded with it. */
type LoadedSystem = (entry: SystemEntry, names: string[]) => void;

export class Recorder {
  readonly #journal: Journal;
  #contents: ImageContents = emptyContents();
  /** Maps the id of a job that evaluates forms to the number of its forms that the backend has reported. */
  readonly #reportedForms = new Map<number, number>();
  /** Labels of the unfinished forms and loads that can have changed the image. The key of a form is its number. The key
   * of a load is its label. */
  readonly #unfinished = new Map<number | string, string>();

  constructor(journal: Journal) {
    this.#journal = journal;
  }

  get contents(): Readonly<ImageContents> {
    return this.#contents;
  }

  /** The systems and files that calls have loaded, each once, in the order of their first loads. */
  get loads(): { systems: string[]; files: string[] } {
    const { systems, files } = this.#contents;
    if (!this.#journal.isEnabled) return { systems, files };
    const named = (read: (entry: JournalEntry) => string | undefined) => [
      ...new Set(this.#journal.entries.flatMap((entry) => read(entry) ?? [])),
    ];
    return {
      systems: named((entry) => (entry.kind === 'system' ? entry.name : undefined)),
      files: named((entry) => ('path' in entry ? entry.path : undefined)),
    };
  }

  /** Returns the contents of the lost image, and starts to record those of the next image. The entries of the journal
   * stay. */
  takeContents(): ImageContents {
    const contents = this.#contents;
    for (const what of this.#unfinished.values()) addForm(contents.unfinished, what);
    this.#unfinished.clear();
    this.#contents = emptyContents();
    this.#reportedForms.clear();
    return contents;
  }

  /** Prepares to record a call of the operation NAME with ARGS: reads the files that the call will load. Resolves with
   * the function that records the call when it gets the answer. */
  async answerRecorder(name: string, args: object, loaded: LoadedSystem): Promise<AnswerRecorder> {
    const onEnd = await this.#endRecorder(name, args, loaded);
    const loadLabel = labelOfLoad(name, args);
    return (job, answer) => {
      const { ending, data } = answer;
      if (loadLabel !== undefined) this.#unfinished.delete(loadLabel);
      // While a held error stops the operation, the operation has not ended.
      if ('held' in data) {
        if (loadLabel !== undefined) keepNewest(this.#unfinished, loadLabel, loadLabel);
      } else if (ending.kind !== 'lost') onEnd(job, answer);
      else if (loadLabel !== undefined && !ending.notBegun) addForm(this.#contents.unfinished, loadLabel);
    };
  }

  /** Returns the function that records what the operation NAME with ARGS has done. This function gets the answer of the
   * operation. It is called when the operation has ended and the image still exists. */
  async #endRecorder(name: string, args: object, loaded: LoadedSystem): Promise<AnswerRecorder> {
    switch (name) {
      case 'evaluate':
        return (job, { data }) => this.#evaluated(job, data as EvaluateData);
      case 'load-file':
        return this.#fileRecorder(args as Operations['load-file']['args']);
      case 'load-files':
        return this.#filesRecorder(args as Operations['load-files']['args']);
      case 'load-forms':
        return this.#formsRecorder(args as Operations['load-forms']['args']);
      case 'load-system':
        return (_, { data, ending }) => {
          if (ending.kind === 'done') this.#loadedSystem(data as LoadSystemData, loaded);
        };
      default:
        return () => {};
    }
  }

  async #fileRecorder({ file }: { file: string }): Promise<AnswerRecorder> {
    const content = await this.#contentOf(file);
    return (_, { data, ending }) => {
      const load = data as LoadFileData;
      const forget = load.value?.agreement?.gone !== undefined;
      this.#loadedFile({ path: load.value?.file ?? file, content, forget }, load, ending.kind);
    };
  }

  async #filesRecorder({ files }: { files: readonly string[] }): Promise<AnswerRecorder> {
    const contents = new Map<string, Buffer | undefined>();
    for (const file of files) contents.set(file, await this.#contentOf(file));
    return (_, { data }) => {
      // `load-files` also removes definitions that the files no longer have. A rebuild must do the same.
      for (const value of (data as LoadFilesData).value ?? [])
        this.#loadedFile(
          { path: value.file, content: contents.get(value.file), forget: true },
          { value },
          'done',
        );
    };
  }

  async #formsRecorder({
    file: path,
    content,
    numbers,
  }: Operations['load-forms']['args']): Promise<AnswerRecorder> {
    const whole = await this.#contentOf(path);
    return (_, { data, ending }) => {
      const { value, phase } = data as LoadFileData;
      const isDone = ending.kind === 'done';
      if (value?.notLoaded || (!isDone && phase !== 'load')) return;
      addName(this.#contents.files, path);
      this.#journal.add({
        kind: 'forms',
        path,
        digest: this.#journal.keep(Buffer.from(content, 'latin1')),
        ...(whole && { whole: digestOf(whole) }),
        numbers,
        ...(!isDone && partialLoad(ending.kind)),
      });
    };
  }

  /** Returns the content of FILE; undefined when it cannot be read, or when lost images are not rebuilt. */
  async #contentOf(file: string): Promise<Buffer | undefined> {
    return this.#journal.isEnabled ? this.#journal.files.read(file) : undefined;
  }

  #evaluated(job: number, { values = [], formNumber = 0, unreadable }: EvaluateData): void {
    this.#contents.evaluations++;
    // A form that signalled an error or was interrupted counts too, because its evaluation had begun.
    // With `unreadable`, `formNumber` is the number of the form that could not be read.
    const started = unreadable ? values.length : Math.max(values.length, formNumber);
    // The backend sends no report about a form that changed nothing.
    this.#contents.notRun += Math.max(0, started - (this.#reportedForms.get(job) ?? 0));
    this.#reportedForms.delete(job);
  }

  /** Records a load of the file PATH. If FORGET is true, the load removed definitions that the file no longer has. */
  #loadedFile(
    { path, content, forget }: { path: string; content: Buffer | undefined; forget: boolean },
    { value, phase, wentOnBy }: LoadFileData,
    endingKind: Ending['kind'],
  ): void {
    const isDone = endingKind === 'done';
    // Nothing was loaded when the load ended in the phase 'compile'.
    if ((value?.notLoaded && !value.begun) || (!isDone && phase !== 'load')) return;
    const isPartial = !isDone || Boolean(value?.begun);
    addName(this.#contents.files, path);
    const digest = content && this.#journal.keep(content);
    this.#journal.add({
      kind: 'file',
      path,
      ...(digest !== undefined && { digest }),
      ...(isPartial ? partialLoad(endingKind) : leavesNothing(value?.agreement) && { complete: true }),
      ...(forget && { forget }),
      ...restartsIn(wentOnBy),
    });
  }

  #loadedSystem({ value, wentOnBy }: LoadSystemData, loaded: LoadedSystem): void {
    if (value?.system === undefined || value.missing !== undefined) return;
    const names = value.loaded ?? [];
    for (const name of names) addName(this.#contents.systems, name);
    const entry: SystemEntry = { kind: 'system', name: value.system, ...restartsIn(wentOnBy) };
    this.#journal.add(entry);
    loaded(entry, names.length > 0 ? names : [entry.name]);
  }

  /** Records BUILT, a report of the backend about a form of JOB. With `opens`, the form still runs; any other report
   * comes when a form has ended. */
  built(job: number, built: ImageChange): void {
    const { opens, closes, unfinished } = built;
    if (typeof opens === 'number') keepNewest(this.#unfinished, opens, String(unfinished));
    else {
      // Most forms have sent no report with `opens`, so they have no number in `closes` either.
      this.#unfinished.delete(Number(closes));
      this.#formEnded(job, built);
    }
  }

  #formEnded(job: number, { text, inPackage, damages, unfinished, set, reads, ...facts }: ImageChange): void {
    // If a report contains only the variables that a form has set, no rebuild evaluates this form. `notRun` counts such
    // forms.
    const isCounted = [text, inPackage, damages, unfinished].some((each) => each !== undefined);
    if (isCounted && !Number.isNaN(job))
      keepNewest(this.#reportedForms, job, (this.#reportedForms.get(job) ?? 0) + 1);
    if (typeof text === 'string') {
      const entry = formEntry(text, facts);
      if (namesIn(reads).some((name) => this.#contents.variables.includes(name)))
        addForm(this.#contents.differing, labelOf(entry));
      this.#journal.add(entry);
    }
    if (typeof inPackage === 'string') this.#journal.add({ kind: 'package', inPackage });
    if (typeof damages === 'string') addForm(this.#contents.damages, damages);
    if (typeof unfinished === 'string') addForm(this.#contents.unfinished, unfinished);
    for (const name of namesIn(set)) addName(this.#contents.variables, name);
  }

  /** Records that code has registered the tool that clients call NAME. */
  registeredTool(name: string): void {
    addName(this.#contents.tools, name);
  }
}

function labelOfLoad(name: string, args: object): string | undefined {
  const { file: path = '', name: system = '' } = args as { file?: string; name?: string };
  if (name === 'load-file') return labelOf({ kind: 'file', path });
  if (name === 'load-forms') return labelOf({ kind: 'forms', path, digest: '', numbers: [] });
  return name === 'load-system' ? labelOf({ kind: 'system', name: system }) : undefined;
}

/** Sets KEY to VALUE in MAP. If MAP then has more than JOB_LIMIT keys, its oldest key is removed. */
function keepNewest<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): void {
  const [oldest] = map.keys();
  if (oldest !== undefined && map.size >= JOB_LIMIT) map.delete(oldest);
  map.set(key, value);
}

function partialLoad(how: Ending['kind']): { partial: true; cut?: true } {
  return { partial: true, ...(how === 'interrupted' && { cut: true }) };
}

/** Returns true when the AGREEMENT that the backend reported after a load shows that the image has nothing left from
 * earlier loads of the file. */
function leavesNothing({ old, unset, left }: Agreement = {}): boolean {
  return old === undefined && unset === undefined && left === undefined;
}

/** Returns the entry for the form TEXT. The other members are from the backend and are not checked. */
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

/** Returns true when VALUE is an array that is not deeply nested. Code in the image could send an array that is nested
 * too deeply for JSON. */
function isTable(value: unknown): value is never[] {
  return Array.isArray(value) && !isDeeper(value, 4);
}

function restartsIn(restarts: unknown): { restarts?: string[] } {
  const names = namesIn(restarts);
  return names.length > 0 ? { restarts: names } : {};
}

function namesIn(member: unknown): string[] {
  return Array.isArray(member) ? member.filter((each) => typeof each === 'string') : [];
}
