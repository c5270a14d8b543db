// A client in a terminal of its own, which is looked at and typed into as its human would.

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { Place } from './place.ts';

/** The size of the terminal: what fits on a screen decides how much of a question is seen. */
const COLUMNS = '100';
const ROWS = '40';
const LOOK_MS = 300;
/** How long a client may take to end. */
const END_MS = 5000;
/** Between two keys, since a client that draws anew takes none. */
const KEY_MS = 700;

export class Terminal {
  readonly #socket: string;
  readonly #gates: Place['host']['gates'];
  readonly #passed = new Set<RegExp>();

  /** Starts the client at PLACE with PROMPT. */
  constructor(place: Place, prompt: string) {
    const { setup, environment, host, program } = place;
    this.#socket = join(setup.home, 'tmux');
    this.#gates = host.gates;
    const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
    const size = ['-x', COLUMNS, '-y', ROWS, '-c', setup.workspace];
    const command = ['env', '-i', ...variables, program, ...host.interactive(prompt)];
    this.#tmux('-f', '/dev/null', 'new-session', '-d', '-s', 'client', ...size, ...command);
  }

  #tmux(...args: string[]): string {
    return execFileSync('tmux', ['-S', this.#socket, ...args], { encoding: 'utf8', stdio: 'pipe' });
  }

  /** What stands on the screen; nothing when the client has ended. */
  get screen(): string {
    try {
      return this.#tmux('capture-pane', '-p', '-t', 'client').trimEnd();
    } catch {
      return '';
    }
  }

  /** Presses KEYS, as tmux names them. */
  async press(...keys: string[]): Promise<void> {
    for (const key of keys) {
      this.#tmux('send-keys', '-t', 'client', key);
      await pause(KEY_MS);
    }
  }

  /** Types TEXT and a return. */
  async type(text: string): Promise<void> {
    this.#tmux('send-keys', '-t', 'client', '-l', text);
    await pause(KEY_MS);
    await this.press('Enter');
  }

  /** Waits until IS holds, at most MS milliseconds, and returns whether it does. What stands in the way of the
   *  conversation is answered meanwhile. */
  async until(is: () => boolean, ms: number): Promise<boolean> {
    const end = performance.now() + ms;
    while (!is()) {
      if (performance.now() > end) return false;
      await this.#passGates();
      await pause(LOOK_MS);
    }
    return true;
  }

  async #passGates(): Promise<void> {
    for (const [pattern, ...keys] of this.#gates) {
      if (this.#passed.has(pattern) || !pattern.test(this.screen)) continue;
      this.#passed.add(pattern);
      await this.press(...keys);
    }
  }

  /** Ends the client, and waits until it has. */
  async close(): Promise<void> {
    if (this.screen === '') return;
    const pid = Number(this.#tmux('display-message', '-p', '-t', 'client', '#{pane_pid}'));
    this.#tmux('kill-server');
    const end = performance.now() + END_MS;
    while (lives(pid) && performance.now() < end) await pause(LOOK_MS);
    if (lives(pid)) process.kill(pid, 'SIGKILL');
  }
}

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Waits MS milliseconds. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
