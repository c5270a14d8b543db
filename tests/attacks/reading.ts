// Files that should hold up no tool, in the place of a source file of the image and as arguments.

import { execFileSync } from 'node:child_process';
import { linkSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FileSession } from '../files/sessions.ts';
import { type Attack, unless } from './attack.ts';
import { putHostileFiles } from './hostile-files.ts';
import { PING_MS, surelySlowestPing } from './pinging.ts';

const SOURCE = '(defun replaced-one () 1)\n(defun replaced-two () (replaced-one))\n';

/** What the answers must not have: of /etc/passwd, the environment, and errors of JavaScript. */
const FORBIDDEN = /root:x:|HOME=|Cannot read properties|is not a function/;

const KINDS: { readonly [name: string]: (file: string, root: string) => void } = {
  'a FIFO': (file) => execFileSync('mkfifo', [file]),
  'a link to /dev/urandom': (file) => symlinkSync('/dev/urandom', file),
  'a link to /dev/zero': (file) => symlinkSync('/dev/zero', file),
  'a link to /dev/full': (file) => symlinkSync('/dev/full', file),
  'a link to /proc/kmsg': (file) => symlinkSync('/proc/kmsg', file),
  'a link to /proc/self/environ': (file) => symlinkSync('/proc/self/environ', file),
  'a link to /proc/self/fd/0': (file) => symlinkSync('/proc/self/fd/0', file),
  'a hard link to a FIFO': (file) => {
    execFileSync('mkfifo', [`${file}.fifo`]);
    linkSync(`${file}.fifo`, file);
    rmSync(`${file}.fifo`);
  },
  'a link to a link to /dev/zero': (file, root) => {
    rmSync(join(root, 'middle'), { force: true });
    symlinkSync('/dev/zero', join(root, 'middle'));
    symlinkSync(join(root, 'middle'), file);
  },
  'a link to the files of a process': (file) => symlinkSync('/proc/self/task', file),
  'a link through /proc/self/cwd to /etc/passwd': (file) =>
    symlinkSync(`/proc/self/cwd/${'../'.repeat(40)}etc/passwd`, file),
  'a link to itself': (file) => symlinkSync(file, file),
  'a folder': (file, root) => symlinkSync(root, file),
  'a file of 1 TB': (file) => {
    writeFileSync(file, '');
    truncateSync(file, 2 ** 40);
  },
  'zeros of 20 MB': (file) => writeFileSync(file, Buffer.alloc(20_000_000)),
  'another text': (file) => writeFileSync(file, ')'.repeat(1_000_000)),
};

const LOOKS: [string, object][] = [
  ['describe_symbol', { symbol: 'replaced-one' }],
  ['who_calls', { name: 'replaced-one', sites: true }],
  ['read_definition', { names: ['replaced-one'] }],
  ['impact_of_change', { name: 'replaced-one' }],
  ['compare_image', { path: 'replaced.lisp' }],
  ['rename_symbol', { name: 'replaced-one', to: 'other-one', dry_run: true }],
];

/** Returns the attacks on the session AT. */
export async function readingAttacks(at: FileSession): Promise<Attack[]> {
  const file = at.put('replaced.lisp', SOURCE);
  await at.answer('load_file', { path: 'replaced.lisp' });
  const replaced = Object.entries(KINDS).flatMap(([kind, make]) =>
    LOOKS.map(([tool, args]) => ({
      name: `${tool}, with ${kind} in the place of the source file`,
      try: async () => {
        rmSync(file, { force: true });
        make(file, at.root);
        try {
          return await calling(at, tool, args);
        } finally {
          rmSync(file, { force: true });
          writeFileSync(file, SOURCE);
        }
      },
    })),
  );
  const names = putHostileFiles(at, 200_000).slice(0, 19);
  const named = names.flatMap((name) =>
    ['read_file', 'read_buffer', 'search_in_buffer', 'load_file', 'read_definition'].map((tool) => ({
      name: `${tool} of ${JSON.stringify(name)}`,
      try: () => calling(at, tool, argumentsOf(tool, name)),
    })),
  );
  return [...replaced, ...named];
}

function argumentsOf(tool: string, name: string): object {
  if (tool === 'read_buffer') return { buffer: name };
  if (tool === 'search_in_buffer') return { buffer: name, pattern: 'a' };
  return tool === 'load_file' ? { path: name, check: true, timeout: 20 } : { path: name };
}

/** Calls TOOL with ARGS, and returns what is wrong with its answer or with how long a ping took meanwhile. */
export async function calling(at: FileSession, tool: string, args: object): Promise<string | undefined> {
  let text = '';
  const slowest = await surelySlowestPing(at.session, async () => {
    text = await at.answer(tool, args);
  });
  if (slowest > PING_MS) return `a ping took ${Math.round(slowest)} ms`;
  return unless(FORBIDDEN, text);
}
