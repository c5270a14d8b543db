// Reads the files that a call edits. Each file is read once, in full, and only when it may be written.

import { join } from 'node:path';
import type { FileText } from '../../files/text.ts';
import type { Workspace } from '../../files/workspace.ts';
import { type FileState, presentFile } from '../../files/write.ts';
import type { CallContext } from '../../kernel/tool.ts';
import type { QuestionLine } from '../../question-line.ts';
import type { Splice } from '../../source/splice.ts';
import { SourceText } from '../../source/text.ts';
import { TopLevelForms } from '../../source/top-level.ts';
import type { Span } from '../../source/tree.ts';
import { presentText } from '../approved.ts';
import { takingTurns } from '../turns.ts';

/** A splice with the label of the edit that made it. */
export interface EditSplice extends Splice {
  label: string;
}

/** A file to edit, with the splices that edits have added so far. */
export interface EditedFile {
  /** The path in the call. */
  path: string;
  real: string;
  present: FileState;
  before: FileText;
  source: SourceText;
  forms: TopLevelForms;
  splices: EditSplice[];
}

/** An edited file with its planned content. */
export interface PlannedFile extends EditedFile {
  /** The name of the file in answers. Hidden characters are made visible. */
  name: string;
  after: string;
  bytes: Buffer;
  newForms: TopLevelForms;
  /** The top-level forms that are new or changed. */
  changed: Span[];
  /** For each top-level form of the new text, its number in the old text; null for a new or changed form. */
  numbers: (number | null)[];
  /** Notes that the Lisp reader in the image cannot read the new text yet, for example because a package is missing.
   * Loading other code first would solve these problems. */
  notes: QuestionLine[];
  /** The packages that changed forms use and that the image lacks. */
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

  get changed(): EditedFile[] {
    return [...this.#files.values()].filter(({ splices }) => splices.length > 0);
  }

  named(path: string): EditedFile | undefined {
    return [...this.#files.values()].find((file) => file.path === path);
  }

  /** Returns the file at PATH. Throws a CallError when it cannot be written, or when it does not exist and IS_NEW is
   * false. */
  async open(path: string, isNew = false): Promise<EditedFile> {
    const { real: found, missing } = await this.#workspace.locate(path, isNew ? 'write' : 'read');
    const real = join(found, ...missing);
    const opened = this.#files.get(real);
    if (opened !== undefined) return opened;
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
