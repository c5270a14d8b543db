// Keeps the flame graphs of profiles on the disk, and the last profile in memory.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { flameDocument, type GraphFrame } from '../flame-graph.ts';
import { removeOldest, workspaceDigest } from './folder.ts';

/** A profile that was taken now. */
export interface TakenProfile {
  /** What the samples measure, such as `CPU time`. */
  what: string;
  samples: number;
  frames: readonly GraphFrame[];
  /** The functions with the most samples. Their parts are percentages. */
  functions: readonly { name: string; self: number; total: number; caller?: string }[];
}

export class Profiles {
  readonly #folder: string;
  readonly #root: string;
  #last: (TakenProfile & { time: string }) | undefined;

  /** Keeps the flame graphs of profiles in the workspace ROOT in FOLDER. */
  constructor(folder: string, root: string) {
    this.#folder = folder;
    this.#root = root;
  }

  /** The last profile of this server, with the time at which it was kept. */
  get last(): (TakenProfile & { time: string }) | undefined {
    return this.#last;
  }

  /** Keeps PROFILE. Returns the path of a new SVG file with its flame graph. Throws when that cannot be
   *  written. */
  keep(profile: TakenProfile): string {
    const time = new Date().toISOString();
    this.#last = { ...profile, time };
    const { what, samples, frames } = profile;
    const heading = `${what} in ${this.#root}: ${samples} samples, ${time.slice(0, 19).replace('T', ' ')} UTC`;
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    removeOldest(this.#folder);
    const stamp = time.replace(/\D/g, '');
    const path = join(this.#folder, `${workspaceDigest(this.#root)}.${stamp}.svg`);
    writeFileSync(path, flameDocument(heading, frames, samples), { flag: 'wx', mode: 0o600 });
    return path;
  }
}
