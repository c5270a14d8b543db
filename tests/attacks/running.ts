// Files in the place of what is run from the disk, that somebody else can have written.

import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startSession, temporaryFolder, warmCache } from '../harness.ts';
import type { Attack } from './attack.ts';

type Way = (file: string, content: string) => void;

/** Returns the way of a file that has MODE. */
function withMode(mode: number): Way {
  return (file, content) => {
    writeFileSync(file, content);
    chmodSync(file, mode);
  };
}

const WAYS: { readonly [name: string]: Way } = {
  'with mode 666': withMode(0o666),
  'with mode 664': withMode(0o664),
  'with mode 602': withMode(0o602),
  'with mode 4622': withMode(0o4622),
  'behind a link to a file with mode 666': (file, content) => {
    writeFileSync(`${file}.target`, content);
    chmodSync(`${file}.target`, 0o666);
    symlinkSync(`${file}.target`, file);
  },
  'behind a link': (file, content) => {
    writeFileSync(`${file}.target`, content);
    symlinkSync(`${file}.target`, file);
  },
  'a FIFO': (file) => execFileSync('mkfifo', [file]),
  'a folder': (file) => mkdirSync(file),
  'a link to /dev/zero': (file) => symlinkSync('/dev/zero', file),
};

const KINDS: { readonly [name: string]: RegExp } = {
  'the compiled backend': /^backend-.*\.fasl$/,
  'the core': /\.core$/,
  'the kept code': /\.v8$/,
};

/** Returns the attacks, each of which starts a server with a cache of its own. */
export function runningAttacks(): Attack[] {
  return Object.entries(KINDS).flatMap(([what, pattern]) =>
    Object.entries(WAYS).map(([way, make]) => ({
      name: `${what}, ${way}`,
      try: async () => {
        const folder = temporaryFolder();
        warmCache(folder.path);
        const cache = join(folder.path, 'live-lisp');
        const mark = join(folder.path, 'ran');
        const files = readdirSync(cache);
        const targets = files.filter((each) => pattern.test(each));
        if (targets.length === 0) throw new Error(`The cache has no file for the attack: ${what}.`);
        // Without a core the compiled backend is loaded.
        if (what === 'the compiled backend')
          for (const core of files.filter((name) => name.endsWith('.core'))) rmSync(join(cache, core));
        for (const name of targets) {
          rmSync(join(cache, name));
          make(join(cache, name), `(with-open-file (out "${mark}" :direction :output))`);
        }
        const session = await startSession({ env: { XDG_CACHE_HOME: folder.path } });
        const answer = await session.eval('(+ 1 2)');
        await session.close();
        const ran = existsSync(mark);
        folder.remove();
        return ran ? 'it was run' : answer === '3' ? undefined : answer;
      },
    })),
  );
}
