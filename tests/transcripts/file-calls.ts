// Decides which calls of the tools for files, and of those that come after them, are frozen.

import type { Calls } from './calls.ts';

/** Made after those of IMAGE_CALLS, in the same image. */
export const FILE_CALLS: Record<string, Calls> = {
  edit_definitions: {
    usual: [{ edits: [{ definition: 'shop::idle', op: 'after', text: '(defun busy ())' }], load: true }],
    empty: [{ edits: [{ definition: 'shop::busy', op: 'delete' }], load: true }],
    bad: [{ edits: [{ definition: 'shop::idle', text: '(defun idle ()' }] }],
  },
  read_file: {
    usual: [{ path: 'shop.asd' }, { path: 'shop.lisp', start_line: 2, end_line: 4 }],
    empty: [{ path: 'nothing.lisp' }],
    'over-long': [{ path: 'shop.lisp', limit: 2 }],
    bad: [
      { path: 'shoe.lisp' },
      { path: '../outside' },
      { path: 'shop.asd', start_line: 999 },
      { path: 'shop.asd', start_line: 3, end_line: 2 },
    ],
  },
  read_buffer: {
    usual: [{ buffer: 'shop.asd', end_line: 2 }],
    empty: [{ buffer: 'nothing.lisp' }],
    'over-long': [{ buffer: 'shop.lisp', limit: 2 }],
    bad: [{ buffer: 'shoe.lisp' }, { buffer: '/etc/passwd' }],
  },
  search_in_buffer: {
    usual: [
      { pattern: 'price', buffer: 'shop.lisp', limit: 5 },
      { pattern: '^\\(def(un|macro) ', regex: true },
    ],
    empty: [{ pattern: 'xyznonexistent' }],
    'over-long': [{ pattern: '(', limit: 2 }],
    bad: [
      { pattern: '(', regex: true },
      { pattern: 'x', buffer: 'shoe.lisp' },
    ],
  },
  write_file: {
    usual: [
      { path: 'notes/todo.txt', content: 'one\ntwo\n' },
      { path: 'notes/todo.txt', content: 'one\nthree\n' },
    ],
    empty: [{ path: 'notes/empty.txt', content: '' }],
    'over-long': [{ path: 'notes/long.txt', content: 'line\n'.repeat(3000) }],
    bad: [
      { path: 'notes', content: 'x' },
      { path: '../outside.txt', content: 'x' },
      { path: 'notes/', content: 'x' },
    ],
  },
  propose_file_edit: {
    usual: [
      { path: 'notes/todo.txt', original: 'three', modified: '2', description: 'Count in digits.' },
      { path: 'notes/new.txt', original: '', modified: 'new\n' },
    ],
    empty: [{ path: 'notes/todo.txt', original: 'one\n', modified: '' }],
    'over-long': [{ path: 'notes/new.txt', original: 'new', modified: 'line\n'.repeat(300) }],
    bad: [
      { path: 'notes/todo.txt', original: '2', modified: '2' },
      { path: 'notes/todo.txt', original: 'tow', modified: '2' },
      { path: 'notes/long.txt', original: 'line', modified: 'x' },
      { path: 'notes/none.txt', original: 'line', modified: 'x' },
    ],
  },
  restart_image: { usual: [{}], empty: [{ rebuild: 'none' }], 'over-long': [{}], bad: [] },
  get_audit_log: {
    usual: [
      { tool: 'write_file', limit: 2 },
      { tool: 'load_system', outcome: 'failed' },
    ],
    empty: [{ outcome: 'unfinished' }],
    'over-long': [{ tool: 'write_file', limit: 1, offset: 1 }],
  },
  image_status: {
    usual: [{}],
    bad: [{ job: 1 }],
  },
  interrupt: {
    empty: [{}, { all: true }],
    bad: [{ job: 1 }, { job: 1_000_000 }, { job: 1, all: true }],
  },
};
