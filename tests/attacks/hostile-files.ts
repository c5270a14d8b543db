// A workspace with files that a tool should not be held up by, or read.

import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import type { TestWorkspace } from '../files/workspaces.ts';
import { SHAPES } from './shapes.ts';

/** Puts the files into AT, texts of SIZE characters among them, and returns their names. */
export function putHostileFiles({ root, put }: TestWorkspace, size: number): string[] {
  execFileSync('mkfifo', [join(root, 'fifo.lisp')]);
  const links = {
    'urandom.lisp': '/dev/urandom',
    'zero.lisp': '/dev/zero',
    'tty.lisp': '/dev/tty',
    'environ.lisp': '/proc/self/environ',
    'memory.lisp': '/proc/self/mem',
    'kernel.lisp': '/sys/kernel',
    'passwd.lisp': '/etc/passwd',
    'itself.lisp': join(root, 'itself.lisp'),
    'to-fifo.lisp': join(root, 'fifo.lisp'),
    'nowhere.lisp': join(root, 'none'),
    'root.lisp': '/',
  };
  for (const [name, target] of Object.entries(links)) symlinkSync(target, join(root, name));
  truncateSync(put('sparse.lisp', ''), 2 ** 40);
  mkdirSync(join(root, 'folder.lisp'));
  put('binary.lisp', Buffer.from(Array.from({ length: 5000 }, (_, n) => n % 256)));
  put('latin.lisp', Buffer.from('(defun grüße () "ß")', 'latin1'));
  put('mark.lisp', '\ufeff(defun marked () 1)');
  put('wide.lisp', Buffer.from('\ufeff(defun wide () 1)', 'utf16le'));
  put('name\u202e\n.lisp', '(defun odd () 1)');
  const shaped = Object.entries(SHAPES).map(([name, shape]) => {
    const file = `${name.replace(/\W+/g, '-')}.lisp`;
    put(file, shape(size));
    return file;
  });
  const others = ['fifo', 'sparse', 'folder', 'binary', 'latin', 'mark', 'wide', 'name\u202e\n'];
  return [...Object.keys(links), ...others.map((name) => `${name}.lisp`), ...shaped];
}
