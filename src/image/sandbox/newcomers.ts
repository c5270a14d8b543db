// Watches a workspace for new files from which programs outside the sandbox read settings or commands. placeholders.ts
// prevents most such files: it creates an empty folder with the name of the file. This module is for the other files:
// a folder with the name of such a file would disturb the programs.

import { type FSWatcher, watch } from 'node:fs';
import { join } from 'node:path';
import { entryExists } from '../../files/answering.ts';

export class NewFileWatcher {
  readonly #watchers = new Map<string, FSWatcher>();
  readonly #appeared = new Set<string>();

  /** Records each of NAMES that appears in FOLDER from now on. Records nothing when the system cannot watch FOLDER.
   * Throws an UnresponsiveFolderError when the file system does not answer. */
  async watch(folder: string, names: readonly string[]): Promise<void> {
    if (this.#watchers.has(folder)) return;
    const absent = new Set<string>();
    // A link whose target does not exist counts as present, because this folder emits no event when the target is
    // created.
    for (const name of names) if (!(await entryExists(join(folder, name)))) absent.add(name);
    const look = async (name: string) => {
      if (!(await entryExists(join(folder, name)))) absent.add(name);
      else if (absent.delete(name)) this.#appeared.add(join(folder, name));
    };
    try {
      const watcher = watch(folder, { persistent: false }, (_, name) => {
        // An error is ignored here: if the file system does not answer, the next call of a tool reports this.
        if (name !== null && names.includes(name)) look(name).catch(() => {});
      });
      watcher.on('error', () => watcher.close());
      this.#watchers.set(folder, watcher);
    } catch {} // The system allows no more watches.
  }

  take(): string[] {
    const appeared = [...this.#appeared];
    this.#appeared.clear();
    return appeared;
  }
}
