// Decides how it is noticed that a file appears in a workspace which programs outside obey. An empty folder in its place, as
// for names of folders, would hinder these programs.

import { type FSWatcher, watch } from 'node:fs';
import { join } from 'node:path';
import { isThere } from '../../files/answering.ts';

export class Newcomers {
  readonly #watchers = new Map<string, FSWatcher>();
  readonly #appeared = new Set<string>();

  /** Notes from now on which of NAMES appear in FOLDER. Where the system does not tell that, none is noted. Throws
   *  an UnansweredError when the file system does not answer. */
  async watch(folder: string, names: readonly string[]): Promise<void> {
    if (this.#watchers.has(folder)) return;
    const absent = new Set<string>();
    for (const name of names) if (!(await isThere(join(folder, name)))) absent.add(name);
    try {
      const watcher = watch(folder, { persistent: false }, (_, name) => {
        if (name === null || !absent.has(name)) return;
        void isThere(join(folder, name)).then(
          (there) => {
            if (there && absent.delete(name)) this.#appeared.add(join(folder, name));
          },
          () => {}, // The next call says that the file system does not answer.
        );
      });
      watcher.on('error', () => watcher.close());
      this.#watchers.set(folder, watcher);
    } catch {} // The system has no more watches to give.
  }

  /** Returns, once, the paths that have appeared. */
  take(): string[] {
    const appeared = [...this.#appeared];
    this.#appeared.clear();
    return appeared;
  }
}
