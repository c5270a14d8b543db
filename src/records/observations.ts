// Keeps the flame graphs of profiles on the disk, and the last profile and the last recorded calls in memory.

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

/** Calls that were recorded now. */
export interface RecordedRun {
  /** The number of calls, and their time. */
  heading: string;
  /** The calls in their order, each before those that it made, which are one level deeper. */
  calls: readonly { depth: number; text: string }[];
}

export class Observations {
  readonly #folder: string;
  readonly #root: string;
  #profile: (TakenProfile & { time: string }) | undefined;
  #calls: (RecordedRun & { time: string }) | undefined;

  /** Keeps the flame graphs of profiles in the workspace ROOT in FOLDER. */
  constructor(folder: string, root: string) {
    this.#folder = folder;
    this.#root = root;
  }

  /** The last profile of this server, with the time at which it was kept. */
  get profile(): (TakenProfile & { time: string }) | undefined {
    return this.#profile;
  }

  /** The last calls that this server recorded, with the time at which they were kept. */
  get calls(): (RecordedRun & { time: string }) | undefined {
    return this.#calls;
  }

  keepCalls(run: RecordedRun): void {
    this.#calls = { ...run, time: new Date().toISOString() };
  }

  /** Keeps PROFILE. Returns the path of a new SVG file with its flame graph. Throws when that cannot be
   *  written. */
  keepProfile(profile: TakenProfile): string {
    const time = new Date().toISOString();
    this.#profile = { ...profile, time };
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
