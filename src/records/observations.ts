// Stores the flame graphs of profiles on the disk. Keeps the last profile, the last recorded calls and the last runs of
// tests in memory.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { flameDocument, type GraphFrame } from '../flame-graph.ts';
import { removeOldest, workspaceDigest } from './folder.ts';

/** A profile that `observe` took. */
export interface TakenProfile {
  /** The quantity that the samples measure, such as `CPU time`. */
  what: string;
  samples: number;
  frames: readonly GraphFrame[];
  /** The functions with the most samples. `self` and `total` are percentages. */
  functions: readonly { name: string; self: number; total: number; caller?: string }[];
}

/** The calls that `observe` recorded in one call of this tool. */
export interface RecordedRun {
  /** A text with the number of calls and their time. */
  heading: string;
  /** The calls in order. A call is followed by the calls that it made itself, whose `depth` is greater by one. */
  calls: readonly { depth: number; text: string }[];
}

/** A run of tests by `run_tests`. */
export interface TestRun {
  /** A description of the tests that ran, such as the name of a system. */
  what: string;
  milliseconds: number;
  tests: readonly { test: string; passed: boolean }[];
}

/** The last runs of tests. The oldest comes first. */
export interface TestHistory {
  runs: readonly { time: string; what: string; milliseconds: number; passed: number; failed: number }[];
  /** The tests that failed in at least one run, each with one result per run: true when it passed, null when it did not
   * run. */
  failing: readonly { test: string; passed: readonly (boolean | null)[] }[];
}

/** Maximum number of runs of tests to keep, and maximum number of failing tests to return. */
const RUN_LIMIT = 20;
const FAILING_LIMIT = 200;

export class Observations {
  readonly #folder: string;
  readonly #root: string;
  #profile: (TakenProfile & { time: string }) | undefined;
  #calls: (RecordedRun & { time: string }) | undefined;
  readonly #runs: { what: string; milliseconds: number; time: string; passed: Map<string, boolean> }[] = [];

  /** FOLDER is the folder for flame graphs, ROOT the workspace of the server. */
  constructor(folder: string, root: string) {
    this.#folder = folder;
    this.#root = root;
  }

  /** The last profile that this server took, and the time at which it was stored; undefined when there is none. */
  get profile(): (TakenProfile & { time: string }) | undefined {
    return this.#profile;
  }

  /** The last calls that this server recorded, and the time at which they were stored; undefined when there are
   * none. */
  get calls(): (RecordedRun & { time: string }) | undefined {
    return this.#calls;
  }

  /** The last runs of tests in the images of this server. */
  get tests(): TestHistory {
    const runs = this.#runs.map(({ passed, ...run }) => {
      const failed = [...passed.values()].filter((isPassed) => !isPassed).length;
      return { ...run, passed: passed.size - failed, failed };
    });
    const names = this.#runs.flatMap(({ passed }) => [...passed.keys()].filter((test) => !passed.get(test)));
    const failing = [...new Set(names)].slice(0, FAILING_LIMIT).map((test) => {
      return { test, passed: this.#runs.map(({ passed }) => passed.get(test) ?? null) };
    });
    return { runs, failing };
  }

  keepTests({ what, milliseconds, tests }: TestRun): void {
    const passed = new Map<string, boolean>();
    // A test that ran several times has passed when it passed each time.
    for (const each of tests) passed.set(each.test, each.passed && passed.get(each.test) !== false);
    this.#runs.push({ what, milliseconds, time: new Date().toISOString(), passed });
    if (this.#runs.length > RUN_LIMIT) this.#runs.shift();
  }

  keepCalls(run: RecordedRun): void {
    this.#calls = { ...run, time: new Date().toISOString() };
  }

  /** Stores PROFILE as the last one, and writes its flame graph to a new SVG file. Returns the path of this file.
   * Throws when the file cannot be written. */
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
