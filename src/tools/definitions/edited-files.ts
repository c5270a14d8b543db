// Decides how the files that a call edits are read: each once, whole, and only where it may be written.

import { join } from 'node:path';
import type { FileText } from '../../files/text.ts';
import type { Workspace } from '../../files/workspace.ts';
import { type Present, presentFile } from '../../files/write.ts';
import type { CallContext } from '../../kernel/tool.ts';
import type { QuestionLine } from '../../question-line.ts';
import { TopLevelForms } from '../../source/position.ts';
import type { Changed, Splice } from '../../source/splice.ts';
import { SourceText } from '../../source/text.ts';
import { presentText } from '../approved.ts';
import { takingTurns } from '../turns.ts';

/** A splice, and which edit it is of. */
export interface EditSplice extends Splice {
  which: string;
}

/** A file that is edited. */
export interface EditedFile {
  /** How it was called, and its real path. */
  path: string;
  real: string;
  present: Present;
  before: FileText;
  source: SourceText;
  forms: TopLevelForms;
  splices: EditSplice[];
}

/** A file as it would be. */
export interface PlannedFile extends EditedFile {
  /** How people name it, with nothing hidden. */
  name: string;
  after: string;
  bytes: Buffer;
  now: TopLevelForms;
  /** The top-level forms that are new or others than before. */
  changed: Changed[];
  /** Of each form the number that it had before, unless it is one of these. */
  numbers: (number | null)[];
  /** What the reader of the image says that another form can put right. */
  notes: QuestionLine[];
  /** Packages that changed forms are in and that the image has not. */
  missing: readonly string[];
}

/** The files that a call edits. */
export class EditedFiles {
  readonly #workspace: Workspace;
  readonly #features: ReadonlySet<string>;
  readonly #context: CallContext;
  readonly #files = new Map<string, EditedFile>();

  constructor(workspace: Workspace, features: ReadonlySet<string>, context: CallContext) {
    this.#workspace = workspace;
    this.#features = features;
    this.#context = context;
  }

  /** Those in which something changes. */
  get changed(): EditedFile[] {
    return [...this.#files.values()].filter(({ splices }) => splices.length > 0);
  }

  /** Returns the file that was opened as PATH. */
  named(path: string): EditedFile | undefined {
    return [...this.#files.values()].find((file) => file.path === path);
  }

  /** Returns the file at PATH. Throws a CallError when it cannot be written, or is not there and need not be NEW. */
  async open(path: string, isNew = false): Promise<EditedFile> {
    const { real: found, missing } = await this.#workspace.locate(path, isNew ? 'write' : 'read');
    const real = join(found, ...missing);
    const known = this.#files.get(real);
    if (known !== undefined) return known;
    if (missing.length > 0 && !isNew) throw this.#workspace.noFile(path);
    const present = await presentFile(this.#workspace, path, this.#context.signal);
    const before = presentText(present);
    const source = new SourceText(before.text, before.encoding, real);
    const forms = new TopLevelForms(source, this.#features);
    await forms.readAhead(takingTurns());
    const file = { path, real, present, before, source, forms, splices: [] };
    this.#files.set(real, file);
    return file;
  }
}
