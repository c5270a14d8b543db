// The journal by itself: what it keeps and leaves, its limits, what stays on the disk, and random messages.

import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { digestOf } from '../../src/files/digest.ts';
import type { JournalEntry, JournalStore } from '../../src/image/recovery/entries.ts';
import { Journal } from '../../src/image/recovery/journal.ts';
import { Recorder } from '../../src/image/recovery/recorder.ts';
import { readMessage } from '../../src/image/wire/messages.ts';
import { workspaceDigest } from '../../src/records/folder.ts';
import { JournalFiles } from '../../src/records/journal-files.ts';
import { temporaryFolder } from '../harness.ts';
import { cases } from '../long.ts';

/** A store that keeps nothing. */
const NOWHERE: JournalStore = {
  append: () => {},
  clear: () => {},
  keep: () => {},
  content: () => undefined,
  previous: () => undefined,
};

function form(text: string, home = 'COMMON-LISP-USER'): JournalEntry {
  return { kind: 'form', text, package: home };
}

function keptOf(entries: JournalEntry[]): unknown[] {
  const journal = new Journal(NOWHERE);
  for (const entry of entries) journal.add(entry);
  return journal.entries.map((entry) => ('text' in entry ? entry.text : entry));
}

describe('what only repeats or replaces the entry right before it takes its place', () => {
  test.each<[string, JournalEntry[], unknown[]]>([
    ['a function again', [form('(defun f () 1)'), form('(DEFUN F () 2)')], ['(DEFUN F () 2)']],
    [
      'not in another package',
      [form('(defun f () 1)'), form('(defun f () 2)', 'P')],
      ['(defun f () 1)', '(defun f () 2)'],
    ],
    [
      'not when something came between that can have used it',
      [form('(defun f () 1)'), form('(defvar *x* (f))'), form('(defun f () 2)')],
      ['(defun f () 1)', '(defvar *x* (f))', '(defun f () 2)'],
    ],
    [
      'not what the reader evaluates',
      [form('(defun f () #.(g))'), form('(defun f () #.(g))')],
      ['(defun f () #.(g))', '(defun f () #.(g))'],
    ],
    [
      'a method is no function',
      [form('(defmethod f ((x a)) 1)'), form('(defmethod f ((x b)) 1)')],
      ['(defmethod f ((x a)) 1)', '(defmethod f ((x b)) 1)'],
    ],
    [
      'a package',
      [
        { kind: 'package', inPackage: 'A' },
        { kind: 'package', inPackage: 'B' },
      ],
      [{ kind: 'package', inPackage: 'B' }],
    ],
    [
      'a file of the same content',
      [
        { kind: 'file', path: '/a', digest: '1' },
        { kind: 'file', path: '/a', digest: '1' },
        { kind: 'file', path: '/a', digest: '2' },
      ],
      [
        { kind: 'file', path: '/a', digest: '1' },
        { kind: 'file', path: '/a', digest: '2' },
      ],
    ],
  ])('%s', (_, entries, kept) => expect(keptOf(entries)).toEqual(kept));
});

test('a full journal says so once, and keeps what it has', () => {
  const journal = new Journal(NOWHERE);
  for (let n = 0; n < 20_010; n++) journal.add(form(`(defun f${n} () 1)`));
  expect(journal.entries).toHaveLength(20_000);
  expect(journal.takeNotes()).toEqual([{ kind: 'journal full', entries: 20_000 }]);
  const long = new Journal(NOWHERE);
  for (let n = 0; n < 5; n++) long.add(form(`(defvar *x${n}* "${'x'.repeat(10_000_000)}")`));
  expect([long.entries.length, long.takeNotes().length]).toEqual([3, 1]);
});

test('--replay and LIVE_LISP_REPLAY are on or off; the flag counts', () => {
  expect(readConfig([], {}).replay).toBe(true);
  expect(readConfig([], { LIVE_LISP_REPLAY: 'off' }).replay).toBe(false);
  expect(readConfig(['--replay', 'on'], { LIVE_LISP_REPLAY: 'off' }).replay).toBe(true);
  expect(() => readConfig(['--replay', 'maybe'], {})).toThrow('--replay must be on or off, not maybe.');
});

describe('on the disk', () => {
  let folder: ReturnType<typeof temporaryFolder>;
  beforeEach(() => {
    folder = temporaryFolder();
  });
  afterEach(() => folder.remove());

  /** Makes the journal of a server that has ended, with that content, and returns the folder of its workspace. */
  function oldJournal(content: string | Buffer, stamp = '20260101000000000'): string {
    new JournalFiles(folder.path, folder.path).append(form('1'));
    const [workspace = ''] = readdirSync(folder.path);
    const old = join(folder.path, workspace, `${stamp}-999999999`);
    mkdirSync(old);
    writeFileSync(join(old, 'journal.jsonl'), content);
    return join(folder.path, workspace);
  }

  test('what was cleared is not there for the next server', () => {
    const lines = [form('(a)'), { kind: 'cleared' }, form('(b)')].map((each) => JSON.stringify(each));
    oldJournal(`${lines.join('\n')}\n`);
    const previous = new JournalFiles(folder.path, folder.path).previous();
    expect(previous).toMatchObject({ entries: [form('(b)')], damaged: 0 });
  });

  test('the journals of the last five servers stay', () => {
    for (let n = 1; n < 9; n++) oldJournal('', `2026010100000000${n}`);
    const files = new JournalFiles(folder.path, folder.path);
    files.append(form('1'));
    const names = readdirSync(oldJournal('', '20270101000000000')).filter((name) =>
      name.endsWith('-999999999'),
    );
    expect(names.map((name) => name.slice(0, 17))).toEqual([
      '20260101000000004',
      '20260101000000005',
      '20260101000000006',
      '20260101000000007',
      '20260101000000008',
      '20270101000000000',
    ]);
  });

  test('a content that could not be written is there, and is written when it is kept again', () => {
    const [content, workspace] = [
      Buffer.from('(defun f ())'),
      join(folder.path, workspaceDigest(folder.path)),
    ];
    const files = new JournalFiles(folder.path, folder.path);
    writeFileSync(workspace, 'in the way');
    for (let n = 0; n < 2; n++) expect(() => files.keep(digestOf(content), content)).toThrow();
    expect(files.content(digestOf(content))).toEqual(content);
    rmSync(workspace);
    files.keep(digestOf(content), content);
    const [own = ''] = readdirSync(workspace);
    expect(readdirSync(join(workspace, own))).toEqual([`${digestOf(content)}.gz`]);
    expect(files.content(digestOf(content))).toEqual(content);
  });

  test('with many workspaces, the oldest go, but none whose server runs and no kind of images', () => {
    const kept = [join('running', `20200101000000000-${process.pid}`), join('sandboxed', '0'.repeat(24))];
    const ended = Array.from({ length: 101 }, (_, n) =>
      join(`w${n}`, `${20250101000000000n + BigInt(n)}-999999999`),
    );
    for (const path of [...kept, ...ended]) mkdirSync(join(folder.path, path), { recursive: true });
    new JournalFiles(folder.path, folder.path).append(form('1'));
    const isThere = (path: string) => existsSync(join(folder.path, path));
    expect([kept.map(isThere), ended.filter((path) => !isThere(path))]).toEqual([
      [true, true],
      ended.slice(0, 2),
    ]);
  });
});

test('random messages of an image break nothing', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (said, job) => {
      const journal = new Journal(NOWHERE);
      const recorder = new Recorder(journal);
      for (const built of [
        said,
        { set: [said], text: '1', package: said, readtable: said, policy: said },
        { text: said, inPackage: said, set: said, damages: said, without: said },
      ]) {
        const reported = readMessage({ built, job });
        if (reported.kind === 'built') recorder.built(reported.job, reported.built);
      }
      for (const entry of journal.entries) expect(JSON.parse(JSON.stringify(entry))).toHaveProperty('kind');
    }),
    cases(300),
  );
});
