// Places in files that are hard to read, those of hard/ and some in other encodings: each function there calls (hit N), which
// signals an error, and the place of the call is where the file has it, or is said to be somewhere within its form.

import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { Written } from '../callers/written.ts';

const FOLDER = join(import.meta.dirname, 'hard');

/** What the place of a call begins with that the text does not have as a list, by its number: what made it, or what it is in. */
const MADE: Readonly<Record<number, string>> = {
  ...{ 15: "#.(list 'list", 19: "#.(list 'defun", 111: '(m1 3)', 136: '(vec #(', 137: '(vec #(' },
  // SBCL numbers nothing in a vector of a backquote, nor, before 2.6, in a backquote of a backquote.
  ...{ 116: '`(a ,', 118: '`#(1 ,', 119: '`#(1 ,' },
  ...{ 151: '(with-made', 152: '(with-made', 153: '(with-made', 174: '(give)', 178: '(defcopy ' },
  ...{ 214: '#.(read-file "included', 215: '#.(read-file "part' },
  ...{
    3: '(tort:hit 3)',
    231: '(tt:hit 231)',
    232: '(tort::hit 232)',
    233: '(|TORT|:|HIT| 233)',
    243: '(hit f3)',
  },
};

/** Calls that the reader leaves out, or that have no place: 104 is behind #+(or) #+(or), 253 is made by COMPILE. */
const NONE = [104, 253, ...Array.from({ length: 10 }, (_, index) => 990 + index)];

/** A file of the workspace. TEXT is what the server shows of it, OCTETS how it is stored, FORMAT how SBCL reads it. */
interface Hard {
  name: string;
  text: string;
  octets?: Buffer;
  format?: string;
}

/** Returns TEXT with the forms before it that make the package NAME. */
const inPackage = (name: string, text: string) =>
  `(defpackage :${name} (:use :cl :tort))\n(in-package :${name})\n${text}`;
const LONG = Array.from({ length: 400 }, (_, index) => `(list ${index} '(a (b ${index})))`).join(' ');
const COMMENTED = inPackage(
  'crlf',
  '(defun f1 ()\n  ;; ( (hit 999)\n  (list "a\nb" (hit 61)\n   (hit 62)))\n',
);
const ACCENTS = (name: string, first: number) =>
  inPackage(name, `;; déjà vu\n(defun f1 () (list "éé" (hit ${first}) "ü" (hit ${first + 1})))\n`);

const FILES: readonly Hard[] = [
  ...readdirSync(FOLDER)
    .filter((name) => name !== 'hit.lisp' && name.endsWith('.lisp'))
    .map((name) => ({ name: basename(name, '.lisp'), text: readFileSync(join(FOLDER, name), 'utf8') })),
  { name: 'crlf', text: COMMENTED, octets: Buffer.from(COMMENTED.replaceAll('\n', '\r\n')) },
  {
    name: 'long',
    text: inPackage('long', `(defun f1 () (list ${LONG} (hit 191) "😀😀" ${LONG} (hit 192)))\n`),
  },
  // The server shows Latin-1, as the octets are no UTF-8.
  {
    name: 'latin',
    text: ACCENTS('latin', 71),
    format: 'latin-1',
    octets: Buffer.from(ACCENTS('latin', 71), 'latin1'),
  },
  // The server shows UTF-8, of which SBCL has read each octet as a character.
  { name: 'octets', text: ACCENTS('octets', 81), format: 'latin-1' },
  {
    name: 'wide',
    text: ACCENTS('wide', 91),
    format: 'utf-16le',
    octets: Buffer.from(ACCENTS('wide', 91), 'utf16le'),
  },
];

/** Files whose places can be known no closer than the top-level form, by how they got into the image. */
const WITHIN = {
  compiled: ['wide'],
  'loaded as source': ['wide'],
  'read again': ['wide', 'dots', 'includes'],
};
type Way = keyof typeof WITHIN;

const written = new Written();
beforeAll(async () => {
  cpSync(FOLDER, written.path('.'), { recursive: true });
  for (const { name, text, octets } of FILES) writeFileSync(written.path(`${name}.lisp`), octets ?? text);
  await written.session.text('load_file', { path: 'hit.lisp' });
});

/** Loads FILE in a WAY. */
async function load({ name, format }: Hard, way: Way): Promise<void> {
  const file = written.path(name);
  const option = format === undefined ? '' : `:external-format :${format}`;
  const source = way === 'loaded as source' ? `"${file}.lisp" ${option}` : '';
  const compiled = `(compile-file "${file}.lisp" ${option} :output-file "${file}.fasl")`;
  await written.session.eval(`(progn (load ${source || compiled}) :loaded)`);
  if (way === 'read again') await written.session.eval('(clrhash live-lisp.jobs::**spans**)');
}

/** The texts of FILES now, by their names. */
const texts = new Map(FILES.map(({ name, text }) => [name, text]));

/** Returns the text from LINE and COLUMN of the file NAME on. */
function textAt(name: string, line: number, column: number): string {
  const text = texts.get(name) ?? readFileSync(join(FOLDER, name), 'utf8');
  const [first = '', ...rest] = text.split('\n').slice(line - 1);
  return [[...first].slice(column - 1).join(''), ...rest].join('\n');
}

/** Returns the place of the call (hit NUMBER) in the package NAME as frames tell it, and the text from there on,
 *  undefined if the place has no line. */
async function calledAt(name: string, number: number) {
  const { text } = await written.session.call('eval_form', { form: `(tort:run :${name} ${number})` });
  const frames = text.split('\n').filter((line) => /^ +\d+: /.test(line));
  const frame = frames[frames.findIndex((line) => line.includes('(TORT:HIT ')) + 1] ?? text;
  const [, file, line, column, remark = ''] = /\s(\S+?)(?:\.lisp)?:(\d+):(\d+)(.*)$/.exec(frame) ?? [];
  return { frame, remark, text: file && textAt(file, Number(line), Number(column)) };
}

/** Returns the numbers of the calls of HIT in FILE, and in the files that it includes. */
function numbersIn({ text }: Hard): number[] {
  const included = [...text.matchAll(/"(\w+\.inc)"/g)].map(([, name = '']) => textAt(name, 1, 1));
  const numbers = [text, ...included].join('\n').match(/(?<=\(hit )\d+(?=\))/g) ?? [];
  return [...new Set(numbers.map(Number))].filter((number) => !NONE.includes(number));
}

/** True when TEXT begins with the call (hit NUMBER), or with what makes it or is around it. */
const isAt = (text: string | undefined, number: number) =>
  [`(hit ${number})`, MADE[number]].some((start) => start !== undefined && text?.startsWith(start));

/** True when TEXT begins with a call of HIT, or with what makes one. */
const isCall = (text: string) =>
  text.startsWith('(hit ') || Object.values(MADE).some((start) => text.startsWith(start));

test.each(Object.keys(WITHIN) as Way[])('the places of calls in files that are %s', async (way) => {
  for (const file of FILES) {
    await load(file, way);
    for (const number of numbersIn(file)) {
      const { frame, remark, text } = await calledAt(file.name, number);
      if (remark !== '') expect([frame, WITHIN[way].includes(file.name)]).toEqual([frame, true]);
      else expect([frame, isAt(text, number)]).toEqual([frame, true]);
    }
  }
  const text = await written.session.text('who_calls', { name: 'tort:hit', sites: true, limit: 500 });
  const sites = [
    ...text.matchAll(/^ {4}(\S+?)(?:\.lisp)?:(\d+):(\d+) {2}(?!.* \((?:one of|in an|within))/gm),
  ];
  expect(sites.length).toBeGreaterThan(90);
  for (const [site, file = '', line, column] of sites)
    expect([site, isCall(textAt(file, Number(line), Number(column)))]).toEqual([site, true]);
});

test('the places of calls in files that were edited since they were loaded', async () => {
  for (const file of FILES) {
    const { name, text, octets, format } = file;
    const added = '\n;; added ( (hit 999)\n';
    const before = Buffer.from(added, format === 'utf-16le' ? 'utf16le' : 'utf8');
    await load(file, 'compiled');
    writeFileSync(written.path(`${name}.lisp`), Buffer.concat([before, octets ?? Buffer.from(text)]));
    texts.set(name, added + text);
    for (const number of numbersIn(file)) {
      const { frame, text } = await calledAt(name, number);
      expect(frame).toMatch(
        /\.inc:|\(the file (?:changed since it was loaded|has changed since it was loaded; this form has not)\)$/,
      );
      // There is no text where only the reader of the image knows the syntax, and it is not known which form this is.
      if (text !== undefined) expect([frame, isAt(text, number)]).toEqual([frame, true]);
    }
  }
});
