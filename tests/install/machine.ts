// A machine for the tests of install: a home, a project and programs of its own in a temporary folder.

import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { messageOf } from '../../src/errors.ts';
import type { InstallContext } from '../../src/install/clients.ts';
import { trustedLaunch } from '../../src/install/entry.ts';
import { install, type Request, uninstall } from '../../src/install/install.ts';
import type { ClientName } from '../../src/install/names.ts';
import { clientFindings } from '../../src/install/report.ts';
import { SERVER, temporaryFolder } from '../harness.ts';

export class Machine {
  readonly #folder = temporaryFolder();
  readonly home = join(this.#folder.path, 'home');
  readonly project = join(this.#folder.path, 'project');
  readonly state = join(this.#folder.path, 'state');
  readonly node = join(this.#folder.path, 'bin', 'node');
  readonly script = join(this.#folder.path, 'dist', 'live-lisp.js');

  /** Whether clients are to run all tools without a question. */
  trust = false;

  constructor() {
    for (const folder of [this.home, this.project, this.state]) mkdirSync(folder);
    // It takes the script for the real one.
    this.write(this.node, `#!/bin/sh\nshift\nexec ${process.execPath} ${SERVER} "$@"\n`, 0o755);
    this.write(this.script, '');
  }

  get place(): InstallContext {
    const environment = { PATH: dirname(this.node) };
    const { home, project, state, trust } = this;
    return { home, project, state, environment, platform: 'linux', trust, safe: ['who_calls', 'read_file'] };
  }

  /** Writes TEXT to FILE, which starts in the home when it is relative, and returns its path. */
  write(file: string, text: string, mode = 0o644): string {
    const path = file.startsWith('/') ? file : join(this.home, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { mode });
    return path;
  }

  /** Makes a program NAME on PATH, which runs the SHELL lines. */
  program(name: string, shell: string): void {
    this.write(join(dirname(this.node), name), `#!/bin/sh\n${shell}\n`, 0o755);
  }

  read(file: string): string | undefined {
    const path = file.startsWith('/') ? file : join(this.home, file);
    return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
  }

  /** The texts of all backups. */
  backups(): string[] {
    const folder = join(this.state, 'configurations');
    const names = existsSync(folder) ? readdirSync(folder) : [];
    return names.map((name) => readFileSync(join(folder, name), 'utf8'));
  }

  /** All files of the home and the project, with HOME and PROJECT for where those are. */
  files(): string[] {
    return [this.home, this.project]
      .flatMap((folder) =>
        readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
      )
      .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile())
      .map((path) => this.named(path))
      .sort();
  }

  /** Returns TEXT with words in place of the folders and programs of this machine. */
  named(text: string): string {
    return text
      .replaceAll(this.node, 'NODE')
      .replaceAll(this.script, 'SCRIPT')
      .replaceAll(this.home, 'HOME')
      .replaceAll(this.project, 'PROJECT');
  }

  install(client: ClientName, more: Partial<Request> = {}): Promise<string[]> {
    return this.#run(install, client, more);
  }

  uninstall(client: ClientName, more: Partial<Request> = {}): Promise<string[]> {
    return this.#run(uninstall, client, more);
  }

  /** Returns what the doctor says of CLIENT. */
  async doctor(client: ClientName, place = this.place): Promise<string[]> {
    const findings = await clientFindings(client, place, { node: this.node, args: [this.script] });
    return findings.map(({ ok, text }) => this.named(`${ok ? 'ok' : 'FAIL'} ${text}`));
  }

  async #run(work: typeof install, client: ClientName, more: Partial<Request>): Promise<string[]> {
    const lines: string[] = [];
    const plain = { node: this.node, args: [this.script] };
    const launch = this.trust && work === install ? trustedLaunch(plain) : plain;
    const request: Request = { client, scope: 'user', dryRun: false, context: this.place, launch, ...more };
    try {
      await work(request, (text) => lines.push(this.named(text)));
    } catch (error) {
      lines.push(this.named(messageOf(error)));
    }
    return lines;
  }

  remove(): void {
    this.#folder.remove();
  }
}
