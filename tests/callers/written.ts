// Files of a workspace that are written and loaded, and the places in them that who_calls tells.

import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Session } from '../harness.ts';
import { sharedFolder, sharedSession } from '../shared.ts';

/** A session in a workspace of its own. */
export class Written {
  readonly session: Session;
  readonly #folder: string;
  // Files are older than the server, as those of a project are.
  #clock = Date.now() / 1000 - 100_000;

  /** Its server is started with ARGS before the tests of a file, and ended behind them. */
  constructor(args: readonly string[] = []) {
    this.#folder = sharedFolder().path;
    this.session = sharedSession({ args: ['--root', this.#folder, ...args] });
  }

  /** Returns the path of the file NAME. */
  path(name: string): string {
    return join(this.#folder, name);
  }

  /** Writes TEXT to the file NAME, as if ten seconds after the last, or in the SAME second. */
  write(name: string, text: string, same = false): void {
    writeFileSync(this.path(name), text);
    if (!same) this.#clock += 10;
    utimesSync(this.path(name), this.#clock, this.#clock);
  }

  async load(name: string, text: string): Promise<void> {
    this.write(name, text);
    expect(await this.session.text('load_file', { path: name })).toContain(`Loaded ${name}`);
  }

  /** Returns the lines below the caller CALLER of NAME. */
  async sitesOf(caller: string, name: string): Promise<string[]> {
    const text = await this.session.text('who_calls', { name, sites: true, limit: 500 });
    const lines = text.split('\n');
    const rest = lines.slice(lines.findIndex((line) => line.startsWith(`  ${caller}`)) + 1);
    const to = rest.findIndex((line) => !line.startsWith('    '));
    return rest.slice(0, to === -1 ? undefined : to).map((line) => line.slice(4));
  }
}
