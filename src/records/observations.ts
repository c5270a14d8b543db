// Keeps the flame graphs of profiles on the disk, and the last profile, the last recorded calls and the last
// runs of tests in memory.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { flameDocument, type GraphFrame } from '../flame-graph.ts';
import { removeOldest, workspaceDigest } from './folder.ts';

/** A profile that `observe` took. */
export interface TakenProfile {
  /** What the samples measure, such as `CPU time`. */
  what: string;
  samples: number;
  frames: readonly GraphFrame[];
  /** The functions with the most samples. Their parts are percentages. */
  functions: readonly { name: string; self: number; total: number; caller?: string }[];
}

/** The calls that `observe` recorded in one call of this tool. */
export interface RecordedRun {
  /** The number of calls, and their time. */
  heading: string;
  /** The calls in their order, each before those that it made, which are one level deeper. */
  calls: readonly { depth: number; text: string }[];
}

/** A run of tests by `run_tests`. */
export interface TestRun {
  /** What ran, such as the name of a system. */
  what: string;
  milliseconds: number;
  tests: readonly { test: string; passed: boolean }[];
}

/** The last runs of tests, the oldest first. */
export interface TestHistory {
  runs: readonly { time: string; what: string; milliseconds: number; passed: number; failed: number }[];
  /** The tests that failed in one of the runs, with the result in each run: true when the test passed, null when
   *  it did not run. */
  failing: readonly { test: string; passed: readonly (boolean | null)[] }[];
}

/** Maximum number of runs of tests to keep, and of failing tests to show. */
const RUNS = 20;
const FAILING = 200;

export class Observations {
  readonly #folder: string;
  readonly #root: string;
  #profile: (TakenProfile & { time: string }) | undefined;
  #calls: (RecordedRun & { time: string }) | undefined;
  readonly #runs: { what: string; milliseconds: number; time: string; passed: Map<string, boolean> }[] = [];

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

  /** The runs of tests in the images of this server. */
  get tests(): TestHistory {
    const runs = this.#runs.map(({ passed, ...run }) => {
      const failed = [...passed.values()].filter((isPassed) => !isPassed).length;
      return { ...run, passed: passed.size - failed, failed };
    });
    const names = this.#runs.flatMap(({ passed }) => [...passed.keys()].filter((test) => !passed.get(test)));
    const failing = [...new Set(names)].slice(0, FAILING).map((test) => {
      return { test, passed: this.#runs.map(({ passed }) => passed.get(test) ?? null) };
    });
    return { runs, failing };
  }

  keepTests({ what, milliseconds, tests }: TestRun): void {
    const passed = new Map<string, boolean>();
    // A repeated test has passed when it passed each time.
    for (const each of tests) passed.set(each.test, each.passed && passed.get(each.test) !== false);
    this.#runs.push({ what, milliseconds, time: new Date().toISOString(), passed });
    if (this.#runs.length > RUNS) this.#runs.shift();
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
