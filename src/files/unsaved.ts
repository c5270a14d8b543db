// Defines what the user's editors say about files with unsaved changes.

/** A file with unsaved changes in an editor. */
export interface UnsavedFile {
  /** The real path. */
  file: string;
  /** The name of the editor, for people. */
  editor: string;
  /** The content of the file after a save; absent when the editor did not send it. */
  octets?: Buffer;
}

/** The answers of all editors. `silent` is the name of an editor that did not answer in time, or sent no
 *  valid answer. */
export interface Unsaved {
  files: readonly UnsavedFile[];
  silent?: string;
}

/** The server's questions and messages to the user's editors about files. */
export interface FileEditors {
  /** Resolves with the name of an editor with unsaved changes of the file at `real`; undefined for none. */
  unsavedIn: (real: string) => Promise<string | undefined>;
  /** Resolves with the files at or below `real` that have unsaved changes. With `names`, without their
   *  content. */
  unsavedBelow: (real: string, names?: 'names') => Promise<Unsaved>;
  /** Notifies the editors that a tool has changed the file at `real`. */
  changed: (real: string) => void;
}
