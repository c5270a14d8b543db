// The functions that look at texts from outside.

import { words } from '../../src/catalog/terms.ts';
import { diffHunks, fileDiffOf, wholeContentDiff } from '../../src/files/diff.ts';
import { hunksBetween } from '../../src/files/line-changes.ts';
import { decode, encode, lineEnds, linesOf } from '../../src/files/text.ts';
import { RawOutput } from '../../src/image/process/raw-output.ts';
import { encodeFrame, FrameReader } from '../../src/image/wire/frames.ts';
import { JSONC } from '../../src/install/jsonc.ts';
import { TOML } from '../../src/install/toml.ts';
import { isDeeper } from '../../src/json.ts';
import { nearest } from '../../src/kernel/nearest.ts';
import { boundLines, boundText, fittingRows, indent, listText } from '../../src/kernel/reply.ts';
import { printable } from '../../src/kernel/schema.ts';
import { argumentsPreview, boundedPreview } from '../../src/kernel/shown.ts';
import { questionLine } from '../../src/question-line.ts';
import { parseLine, truncate } from '../../src/records/shorten.ts';
import { LineReader } from '../../src/server/line-reader.ts';
import { imbalanceOf } from '../../src/source/balance.ts';
import { callMentionsIn } from '../../src/source/calls.ts';
import { brokenCall, codeFinder, topLevelLists, withoutProse } from '../../src/source/code-search.ts';
import { definedLambdaList, definitionDetails } from '../../src/source/definition-details.ts';
import { definitionsIn, formsNaming, likeliestFormsNaming } from '../../src/source/definitions.ts';
import { elementsOf, readForm } from '../../src/source/form.ts';
import { formDefining } from '../../src/source/form-matching.ts';
import { instanceUsesIn } from '../../src/source/instances.ts';
import { argumentOf, checkFit, disagreement, parsedLambdaList } from '../../src/source/lambda-list.ts';
import { packageNamedIn } from '../../src/source/package-uses.ts';
import { Packages } from '../../src/source/packages.ts';
import { partAt } from '../../src/source/parts.ts';
import { proseMentions } from '../../src/source/prose.ts';
import { addTakersIn, scanFor } from '../../src/source/renaming.ts';
import { computedIn, namedIn } from '../../src/source/roles.ts';
import { applySplices, changedForms, unfinishedLine } from '../../src/source/splice.ts';
import { SourceText } from '../../src/source/text.ts';
import { TopLevelForms } from '../../src/source/top-level.ts';
import { treeOf } from '../../src/source/tree.ts';
import { nameMentionsIn, usePositionsIn, usesIn } from '../../src/source/uses.ts';
import { walkSource } from '../../src/source/walk.ts';
import { partInFile } from '../../src/tools/definitions/edit-splices.ts';
import { exactPlaces, nearestText } from '../../src/tools/exact-text.ts';
import { occurrences } from '../../src/tools/match.ts';
import { namedPlaces } from '../../src/tools/named-places.ts';
import { imbalanceWithProposal, newImbalanceText } from '../../src/tools/parentheses.ts';
import { visible, visibleLine, visibleName, withIsolates, withoutIsolates } from '../../src/visible.ts';
import { catalogOf } from '../contracts/catalogs.ts';

const FEATURES: ReadonlySet<string> = new Set(['SBCL']);
const forms = (text: string) => new TopLevelForms(new SourceText(text), FEATURES);
const formsIn = (text: string) => {
  const all = forms(text);
  return all.allExtents().flatMap(({ start }) => all.formFrom(start) ?? []);
};
const fileText = (text: string) => ({ text, encoding: 'UTF-8', bom: false }) as const;

/** Does what a rename of the symbol NAME does with TEXT. */
function rename(name: string, text: string): void {
  const [all, packages] = [forms(text), new Packages([['P', 'P']], [])];
  const renaming = { from: name, to: 'BAR', packages: new Set(['P']), exporters: new Set<string>() };
  packages.note(text);
  const taking = new Set(['BAR']);
  const takers = new Map([[name, { functions: taking, classes: taking, structures: taking }]]);
  const packageAt = (index: number) => all.packageAt(index) ?? 'P';
  const task = { renamings: [renaming], packages, packageAt, takers, keywords: true, prose: true };
  addTakersIn(text, renaming, task);
  applySplices(text, scanFor(text, task).edits);
}

const { ranking } = catalogOf([{ name: 'eval_form', description: 'Evaluate Lisp forms in the image' }]);

/** Takes the first form of TEXT as a lambda list, of a function and of a macro, and as its own arguments. */
function fit(text: string): void {
  const args = elementsOf(readForm(text, 0, FEATURES)).map(argumentOf);
  for (const macro of [false, true]) {
    const list = parsedLambdaList(text, FEATURES, macro);
    if (list === undefined) continue;
    checkFit(list, args);
    disagreement(list, list);
  }
}

/** Each takes a text. What it returns counts for nothing. */
export const FUNCTIONS: { readonly [name: string]: (text: string) => unknown } = {
  imbalanceOf,
  withoutProse,
  topLevelLists,
  treeOf,
  'codeFinder, in the text': (text) => [...(codeFinder('(foo')?.(text) ?? [])],
  'codeFinder, for the text': (text) => [...(codeFinder(text.slice(0, 300))?.(text) ?? [])],
  brokenCall: (text) => brokenCall(text, 0),
  'positionAt, at many places': (text) => {
    const source = new SourceText(text);
    for (let index = 0; index < text.length; index += 50) source.positionAt(index);
  },
  'packageAt, of each form': (text) => {
    const all = forms(text);
    return all.allExtents().map(({ start }) => all.packageAt(start));
  },
  topLevelForms: (text) => {
    const all = forms(text);
    return all.allExtents().map((_, number) => all.definitionAt(number));
  },
  mentionsOf: (text) => formsIn(text).map((form) => nameMentionsIn(form, 'FOO')),
  definitionsIn: (text) => definitionsIn(forms(text)),
  spots: (text) =>
    formsIn(text).map((form) =>
      usePositionsIn(form, { at: [form.start], whole: true, inside: 1 }, { name: 'FOO' }),
    ),
  uses: (text) =>
    formsIn(text).map((form) => [usesIn(form, { name: 'FOO' }), usesIn(form, { name: 'A', variable: true })]),
  instances: (text) =>
    instanceUsesIn(new SourceText(text), FEATURES, {
      classes: [{ name: 'FOO', packages: new Set(['P']) }],
      initargs: ['K1', 'A'],
      slots: ['X', 'K1'],
    }),
  walk: (text) => walkSource(new SourceText(text), FEATURES, ['A', 'F', '#'], () => ({ visit: () => {} })),
  fits: fit,
  readRequest: (text) => ranking.rank(text),
  targetsNamed: (text) => likeliestFormsNaming(forms(text), { name: 'FOO' }),
  allNamed: (text) => formsNaming(forms(text), { name: 'FOO' }),
  formDefining: (text) => formDefining({ name: 'P::FOO' }, forms(text)),
  definedLambdaList: (text) => definedLambdaList(text, 0),
  unfinishedLine: (text) => unfinishedLine(text, FEATURES),
  changedForms: (text) => {
    const added = { start: text.length, end: text.length, text: '\n(a)' };
    return changedForms(forms(text), forms(text + added.text), [added]);
  },
  'changedForms, at many places': (text) => {
    const splices = exactPlaces(text, 'a').places.map(({ from, to }) => ({
      start: from,
      end: to,
      text: 'bc',
    }));
    return changedForms(forms(text), forms(text.replaceAll('a', 'bc')), splices);
  },
  'partInFile, at many places': (text) => {
    const source = new SourceText(text);
    const before = fileText(text);
    const present = { name: 'x.lisp', size: text.length, bytes: undefined, fingerprint: '' };
    const file = {
      path: 'x.lisp',
      real: '/x.lisp',
      present,
      before,
      source,
      forms: forms(text),
      splices: [],
    };
    return partInFile('x', { kind: 'part', old: 'a', replacement: 'b\nc', all: true }, file);
  },
  'a rename, of FOO': (text) => rename('FOO', text),
  'a rename, of A': (text) => rename('A', text),
  mentionsIn: (text) =>
    callMentionsIn(new SourceText(text), FEATURES, { name: 'FOO', packages: new Set(['P']) }),
  namedIn: (text) => namedIn(new SourceText(text), FEATURES, { name: 'FOO', packages: new Set(['P']) }),
  computedIn: (text) => computedIn(new SourceText(text), FEATURES),
  packageNamedIn: (text) => packageNamedIn(new SourceText(text), FEATURES, new Set(['FOO'])),
  hunksBetween: (text) => hunksBetween(text, text.replaceAll('f', 'g').slice(100)),
  namedPlaces: (text) => namedPlaces(text.split(' ').map((file) => ({ file, within: [{ file }] }))),
  proseMentions: (text) => proseMentions(text, 'FOO'),
  'diffHunks, of little': (text) => diffHunks(text, `${text}x`),
  'diffHunks, of all': (text) => diffHunks(text, text.replaceAll('(', '[').replaceAll('a', 'b')),
  changeOf: (text) => fileDiffOf('x', fileText(text), fileText(`${text}\nx`)),
  wholeContent: (text) => wholeContentDiff(questionLine`x`, fileText(text)),
  decode: (text) => decode(Buffer.from(text)),
  encode: (text) => encode(fileText(text), 'x'),
  lineEnds,
  linesOf,
  occurrences: (text) => occurrences(text, text.slice(0, 200)),
  nearestText: (text) => nearestText(text, `${text.slice(0, 500)}\u0001`, 'x'),
  words: (text) => words(text),
  boundText: (text) => boundText(text),
  boundLines: (text) => boundLines(text, 200),
  fittingRows: (text) => fittingRows(text.split('\n')),
  indent: (text) => indent(text, 2),
  'nearest, among many': (text) => nearest('abcd', text.split(/\s/)),
  boundedPreview: (text) => boundedPreview(text, 2_000_000),
  argumentsPreview: (text) => argumentsPreview({ form: text }, 'x'),
  visible,
  visibleLine,
  visibleName,
  printable,
  parseLine: (text) => parseLine(JSON.stringify({ kind: text })),
  cut: (text) => truncate(text, 1000),
  'the parser of TOML': (text) => TOML.parse(text),
  'the editor of TOML': (text) => TOML.remove(text, ['a', 'b']),
  'the parser of JSON': (text) => JSONC.parse(text),
  RawOutput: (text) => {
    const output = new RawOutput();
    for (let at = 0; at < text.length; at += 1000) output.add('stderr', text.slice(at, at + 1000));
  },
  'LineReader, in chunks': (text) => {
    const reader = new LineReader();
    for (let at = 0; at < text.length; at += 100) reader.push(Buffer.from(text.slice(at, at + 100)));
  },
  'FrameReader, in chunks': (text) => {
    const [reader, frame] = [new FrameReader(), encodeFrame({ text })];
    for (let at = 0; at < frame.length; at += 100) reader.push(frame.subarray(at, at + 100));
  },
  definitionOf: (text) => definitionDetails(readForm(text, 0, FEATURES)),
  partAt: (text) => {
    const all = forms(text);
    return all.allExtents().map(({ end }, number) => {
      const form = all.definitionAt(number);
      return form && partAt(text, form, end - 1);
    });
  },
  imbalanceWithProposal: (text) => imbalanceWithProposal('x', text),
  newImbalanceText: (text) => newImbalanceText('x', '(a)', text),
  withIsolates: (text) => withIsolates(text),
  withoutIsolates: (text) => withoutIsolates(withIsolates(text)),
  listText: (text) => listText(text.split('\n'), true),
  isDeeper: (text) =>
    isDeeper(
      text.split(' ').map((word) => [word]),
      100,
    ),
  encodeFrame: (text) => encodeFrame({ text }),
};
