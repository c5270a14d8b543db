// Defines the questions to the user's editors about files with unsaved changes, and their answers.

/** A file that has unsaved changes in an editor. */
export interface UnsavedFile {
  /** The real path of the file. */
  file: string;
  /** The name of the editor, for messages. */
  editor: string;
  /** The content that the file would have after saving; absent when the editor did not send it. */
  octets?: Buffer;
}

/** The answers of all editors. `silent` is the name of an editor that did not answer in time or sent an invalid
 * answer. */
export interface Unsaved {
  files: readonly UnsavedFile[];
  silent?: string;
}

/** Asks the user's editors about files, and informs them of changes. */
export interface FileEditors {
  /** Resolves with the name of an editor in which the file `real` has unsaved changes; undefined when there is none. */
  unsavedIn: (real: string) => Promise<string | undefined>;
  /** Resolves with those files with unsaved changes that are in the folder `real`, or are the file `real`. With
   * `names`, the result has no contents. */
  unsavedBelow: (real: string, names?: 'names') => Promise<Unsaved>;
  /** Informs the editors that a tool has changed the file `real`. */
  changed: (real: string) => void;
}
