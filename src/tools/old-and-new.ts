// Makes a call in two fresh images and compares the answers. One image has the files of a commit, the other has the
// files on the disk.

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { realPathOf } from '../files/answering.ts';
import { hunksBetween } from '../files/line-changes.ts';
import type { LoadStep } from '../image/wire/operations.ts';
import { joinSections } from '../kernel/reply.ts';
import type { Result } from '../kernel/tool.ts';
import type { ToolDependencies } from './dependencies.ts';
import {
  afterLoading,
  type FreshCall,
  freshInventory,
  givenSteps,
  listed,
  loadSteps,
  type OutcomePart,
  starterOf,
  stepsIn,
} from './fresh-call.ts';

/** The outcome of the call in one of the two images. */
interface Side {
  parts: OutcomePart[];
  /** True when a load failed, so that the call was not made. */
  isUnmade: boolean;
  /** The files that the image loaded from the workspace itself, and not from the copy with the files of the commit. */
  current: string[];
}

/** Maximum number of lines of a difference, and maximum number of characters of a line. */
const LINE_LIMIT = 60;
const LINE_LENGTH = 200;
/** Number of characters that are shown of a long line before the first difference. */
const CONTEXT_LENGTH = 40;

/** Makes CALL in two fresh images. One has the files of the commit REVISION, the other has the files on the disk.
 * Returns a result that shows how the two outcomes differ. */
export async function compareRevisions(call: FreshCall, revision: string): Promise<Result> {
  const { running, context } = call;
  const withFreshImage = starterOf(running);
  const [root = running.places.root] = running.workspace.realRoots;
  const [older, newer] = [join(call.folder, 'old'), join(call.folder, 'new')];
  for (const folder of [join(older, 'files'), newer]) await mkdir(folder, { recursive: true });
  const old = await realPathOf(join(older, 'files'));
  const commit = await running.putRevision(
    revision,
    { folder: old, scratch: join(call.folder, 'git') },
    context.signal,
  );
  // The loads of the running image. The old image loads the files in `old` instead of those in `root`.
  const steps = await givenSteps(call);
  const oldSteps = stepsIn(steps, root, old);
  const [before, after] = await both(
    withFreshImage(older, (fresh) => performed({ ...call, folder: older }, fresh, oldSteps), old),
    withFreshImage(newer, (fresh) => performed({ ...call, folder: newer }, fresh, steps)),
  );
  const name = revision.startsWith(commit) ? commit : `${revision} (${commit})`;
  const current = before.current.map((file) => running.places.fileName(file));
  // Otherwise each path below `old` in the outcome would count as a difference.
  const inRoot = (text: string) => text.replaceAll(old, root);
  const parts = before.parts.map(({ name, text, forms }) => ({
    name,
    text: text && inRoot(text),
    forms: forms?.map(inRoot),
  }));
  return comparedResult({ ...before, parts, current }, after, {
    name,
    loaded: afterLoading(steps, running.places),
  });
}

/** Returns the result that compares BEFORE, the outcome with the files of the commit NAME, with AFTER, the outcome with
 * the files on the disk. LOADED is a phrase that says what was loaded before the call. */
function comparedResult(
  before: Side,
  after: Side,
  { name, loaded }: { name: string; loaded: string },
): Result {
  const compared = PARTS.map((part) => {
    const [one, other] = [textOf(before, part), textOf(after, part)];
    const isSame = comparable(one) === comparable(other);
    return { part, isSame, text: isSame ? other : differenceText(one, other) };
  });
  const differing = compared.filter(({ isSame }) => !isSame);
  const isAlike = differing.length === 0;
  const which = differing.map(
    ({ part }) => `${part.toLowerCase()}${part === 'Values' ? formsText(before, after) : ''}`,
  );
  const heading = `With the files of ${name} (-) and those on the disk (+), each in a fresh image, ${loaded}`;
  // Parts that are equal in both outcomes, and shown once. If all parts are equal, these are all but the loads. Else it
  // is only the condition, which can explain why values differ or are missing.
  const same = compared.filter(({ part, isSame }) =>
    isAlike ? part !== 'Loads' : isSame && part === 'Condition',
  );
  return {
    data: {
      same: isAlike,
      differing: differing.map(({ part, text }) => ({ part, text })),
      old: partsData(before),
      new: partsData(after),
    },
    text: joinSections([
      `${heading}: ${isAlike ? 'the same' : `different ${which.join(', ')}`}.`,
      ...differing.map(({ part, text }) => `${part}:\n${text}`),
      ...same.map(({ text }) => text && (isAlike ? text : `Both:\n${text}`)),
      before.isUnmade && `Not all files of ${name} could be loaded, so the call was not made with them.`,
      after.isUnmade && 'Not all files on the disk could be loaded, so the call was not made with them.',
      before.current.length > 0 &&
        `Loaded from the disk on both sides, not from ${name}, so not compared: ${listed(before.current, ', ')}.`,
      /#<|\[\.\.\. /.test(textOf(after, 'Values')) && PRINTED,
    ]),
    failed: before.isUnmade || after.isUnmade,
  };
}

/** Returns the parts of an outcome for the data of the result, each as a list [NAME, TEXT] or [NAME, TEXT, FORMS]. */
function partsData({ parts }: Side): (string | string[] | undefined)[][] {
  return parts.map(({ name, text, forms }) => (forms ? [name, text, forms] : [name, text]));
}

const PARTS = ['Condition', 'Values', 'Output', 'Warnings', 'Loads'];
const PRINTED =
  'Values were compared as printed, ignoring what is inside #<...> or was cut. To compare such parts, return them from the form.';

/** Resolves with the values of both promises. If one is rejected, still waits for the other one, and then rejects. */
async function both<Value>(one: Promise<Value>, other: Promise<Value>): Promise<[Value, Value]> {
  await Promise.allSettled([one, other]);
  return [await one, await other];
}

/** Performs the loads STEPS in the fresh image of FRESH, and then the tool call CALL. Makes no call when a load failed.
 * Returns the outcome of both. */
async function performed(
  call: FreshCall,
  fresh: ToolDependencies,
  steps: readonly LoadStep[],
): Promise<Side> {
  const { adapter, args, context } = call;
  const loads = await loadSteps(call, fresh, steps, false);
  const isUnmade = loads.some(({ failed }) => failed);
  const rest = isUnmade ? [] : ((await adapter.parts?.(fresh, args, context)) ?? []);
  const inventory = await freshInventory(call, fresh);
  return {
    parts: [{ name: 'Loads', text: loads.map(({ text }) => text).join('\n\n') }, ...rest],
    isUnmade,
    // The inventory has only files in the roots of the workspace, so it has no files of the copy.
    current: inventory?.files ?? [],
  };
}

/** Returns a phrase with the numbers of the forms whose values differ between BEFORE and AFTER; '' when there is only
 * one form. */
function formsText(before: Side, after: Side): string {
  const [one = [], other = []] = [before, after].map(
    ({ parts }) => parts.find(({ name }) => name === 'Values')?.forms,
  );
  const count = Math.max(one.length, other.length);
  if (count < 2) return '';
  const numbers = [...Array(count).keys()].filter((index) => {
    const [was, is] = [one[index], other[index]];
    return was === undefined || is === undefined || comparable(was) !== comparable(is);
  });
  return ` of form${numbers.length === 1 ? '' : 's'} ${numbers.map((index) => index + 1).join(', ')}`;
}

function textOf({ parts }: Side, part: string): string {
  return parts.find(({ name }) => name === part)?.text ?? '';
}

/** Returns TEXT without the addresses of objects and the line numbers of warnings, which differ between any two
 * images. */
function comparable(text: string): string {
  return text.replace(/ \{[0-9A-F]+\}(?=>)/g, '').replace(/\(line \d+(?::\d+)?, /g, '(');
}

function differenceText(one: string, other: string): string {
  const linesIn = (text: string) => (text === '' ? '' : `${comparable(text)}\n`);
  const before = linesIn(one);
  // Number of lines of BEFORE that the hunks so far have passed.
  let passed = 0;
  const lines = hunksBetween(before, linesIn(other)).flatMap(({ oldStart, oldLines, lines }) => {
    const equal = oldStart - 1 - passed; // `oldStart` is 1-based.
    passed += equal + oldLines;
    return [...equalLine(equal), ...excerpts(lines)];
  });
  lines.push(...equalLine(before.split('\n').length - 1 - passed));
  const more = lines.length > LINE_LIMIT ? [`... ${lines.length - LINE_LIMIT} more lines`] : [];
  return [...lines.slice(0, LINE_LIMIT), ...more].join('\n');
}

function equalLine(count: number): string[] {
  return count > 0 ? [`... ${count} equal line${count === 1 ? '' : 's'}`] : [];
}

/** Returns LINES, the lines of a hunk, with long lines cut. A cut line begins shortly before the place where the first
 * removed line and the first added line differ. */
function excerpts(lines: readonly string[]): string[] {
  const [one = '', other = ''] = ['-', '+'].map((mark) =>
    lines.find((line) => line.startsWith(mark))?.slice(1),
  );
  const at = one.split('').findIndex((unit, index) => unit !== other[index]);
  const start = Math.max(0, (at < 0 ? one.length : at) - CONTEXT_LENGTH);
  return lines.map((line) => {
    if (line.length <= LINE_LENGTH) return line;
    const end = start + LINE_LENGTH;
    return `${line[0]}${start > 0 ? '...' : ''}${line.slice(1).slice(start, end)}${line.length > end ? '...' : ''}`;
  });
}
