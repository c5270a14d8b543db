// Watches a workspace for new files that programs outside the sandbox obey. Placeholders cannot protect these
// names: an empty folder where a program expects a file would disturb the program.

import { type FSWatcher, watch } from 'node:fs';
import { join } from 'node:path';
import { isNamed } from '../../files/answering.ts';

export class NewFileWatcher {
  readonly #watchers = new Map<string, FSWatcher>();
  readonly #appeared = new Set<string>();

  /** Starts to record which of NAMES appear in FOLDER. Records none where the system cannot watch. Throws an
   *  UnansweredError when the file system does not answer. */
  async watch(folder: string, names: readonly string[]): Promise<void> {
    if (this.#watchers.has(folder)) return;
    const absent = new Set<string>();
    // A link counts as present even without its target, because no event in this folder reports that the
    // target was created.
    for (const name of names) if (!(await isNamed(join(folder, name)))) absent.add(name);
    const look = async (name: string) => {
      if (!(await isNamed(join(folder, name)))) absent.add(name);
      else if (absent.delete(name)) this.#appeared.add(join(folder, name));
    };
    try {
      const watcher = watch(folder, { persistent: false }, (_, name) => {
        // Ignore a file system that does not answer: the next call reports it.
        if (name !== null && names.includes(name)) look(name).catch(() => {});
      });
      watcher.on('error', () => watcher.close());
      this.#watchers.set(folder, watcher);
    } catch {} // The system allows no more watches.
  }

  /** Returns the paths that have appeared since the last call. */
  take(): string[] {
    const appeared = [...this.#appeared];
    this.#appeared.clear();
    return appeared;
  }
}
