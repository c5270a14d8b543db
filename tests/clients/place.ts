// Where a client runs: its program from npm, a home and a workspace of its own, our server behind a tee.

import { execFileSync, type SpawnOptionsWithoutStdio, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { cacheFolder } from '../../src/paths.ts';
import { PROJECT, SERVER, temporaryFolder } from '../harness.ts';
import { commonEnvironment, type Host, type Setup } from './hosts.ts';
import { pause } from './terminal.ts';
import { Wire } from './wire.ts';

const TEE = join(PROJECT, 'tests', 'clients', 'tee.mjs');

/** A client that can be started. */
export interface Place {
  host: Host;
  program: string;
  setup: Setup;
  environment: { [name: string]: string };
  wire: Wire;
  remove: () => Promise<void>;
}

/** Returns the program of HOST, which npm installs in the version that HOST names, once. */
export function installed(host: Host): string {
  const folder = join(dirname(cacheFolder()), 'live-lisp-clients', `${host.program}-${host.version}`);
  const program = join(folder, 'node_modules', '.bin', host.program);
  if (!existsSync(program)) {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{"private":true}');
    const wanted = `${host.package}@${host.version}`;
    const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
    execFileSync('npm', ['install', ...quiet, wanted], { cwd: folder, stdio: 'inherit' });
  }
  return program;
}

/** Returns a place for HOST, whose model is at URL. FILES stand in its workspace. */
export function placeFor(host: Host, url: string, files: { [path: string]: string } = {}): Place {
  const folder = temporaryFolder();
  const base = realpathSync(folder.path);
  const wire = new Wire(join(base, 'wire.jsonl'));
  const setup: Setup = {
    url,
    home: join(base, 'home'),
    workspace: join(base, 'workspace'),
    server: [process.execPath, TEE, wire.file, process.execPath, SERVER, '--root', '.'],
    serverEnvironment: {
      XDG_CACHE_HOME: dirname(cacheFolder()),
      XDG_STATE_HOME: join(base, 'state'),
      LIVE_LISP_SERVING: join(base, 'serving'),
    },
  };
  const own = Object.entries(files).map(([path, text]) => [join(setup.workspace, path), text] as const);
  for (const [path, text] of [...Object.entries(host.files(setup)), ...own]) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  for (const path of [setup.home, setup.workspace]) mkdirSync(path, { recursive: true });
  const environment = { ...commonEnvironment(setup), ...host.environment(setup) };
  return {
    host,
    program: installed(host),
    setup,
    environment,
    wire,
    remove: () => removed(setup.home, folder.remove),
  };
}

/** Removes the folder of HOME with REMOVE once nothing that was started there runs any more: Codex leaves daemons. */
async function removed(home: string, remove: () => void): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    for (const pid of startedIn(home)) kill(pid);
    try {
      remove();
      return;
    } catch (error) {
      if (tries === 10) throw error;
      await pause(500);
    }
  }
}

/** Returns the processes whose environment has that HOME; none where there is no /proc. */
function startedIn(home: string): number[] {
  const all = existsSync('/proc') ? readdirSync('/proc').filter((name) => /^\d+$/.test(name)) : [];
  return all.filter((pid) => environmentOf(pid).includes(`HOME=${home}`)).map(Number);
}

function environmentOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
  } catch {
    return []; // It has ended, or is another user's.
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

/** Runs the client at PLACE without a human until it ends, at most MS milliseconds, and returns what it wrote. */
export function runHeadless(place: Place, prompt: string, ms: number): Promise<string> {
  const options: SpawnOptionsWithoutStdio = { cwd: place.setup.workspace, env: place.environment };
  const child = spawn(place.program, place.host.headless(prompt), { ...options, timeout: ms });
  child.stdin.end();
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', () => resolve(output));
  });
}
