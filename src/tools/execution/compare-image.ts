// Defines the tool compare_image, which shows differences between the image and the files that it has loaded.

import { CallError } from '../../errors.ts';
import type { Workspace } from '../../files/workspace.ts';
import type { Image } from '../../image/image.ts';
import type {
  ComparisonData,
  Difference,
  DiskDifference,
  OldItem,
  Operations,
} from '../../image/wire/operations.ts';
import { indent } from '../../kernel/reply.ts';
import { type ArgumentsFor, defineTool, type ToolDescription } from '../../kernel/tool.ts';
import {
  formPlaces,
  isIncomplete,
  itemsText,
  moreText,
  oldLines,
  outdatedLines,
  unsetLines,
} from '../agreement.ts';
import { callOptions } from '../calling.ts';
import { foundValue, isLookupFailure, lookupResult } from '../lookup.ts';
import { LIMIT, pageOf } from '../paging.ts';
import type { Places } from '../places.ts';
import { sourceFile } from '../source-file.ts';

const COMPARE_IMAGE = {
  name: 'compare_image',
  description:
    'Show where the running image and the files on disk differ: functions and other definitions that are old (stale), edited, deleted, or never saved. Use it when code behaves unlike its source. Also shows variables that a load did not set, and users of changed macros. Give path, system or package.',
  parameters: [
    { name: 'path', type: 'string' },
    { name: 'system', type: 'string' },
    { name: 'package', type: 'string' },
    LIMIT,
  ],
  categories: ['execution', 'introspection'],
  shortDescription: 'Tell where the image and the loaded files differ',
  complexity: 'moderate',
  keywords: [
    'stale definitions',
    'in sync',
    'changed since loaded',
    'unsaved definitions',
    'image and source in sync',
    'image differs from file',
    'what did I evaluate',
    'removed from the file',
  ],
} as const satisfies ToolDescription;

const DIFFERENCE_LIMIT = 20;

type Arguments = ArgumentsFor<typeof COMPARE_IMAGE>;

export function compareImageTool(image: Image, places: Places, workspace: Workspace) {
  return defineTool({
    ...COMPARE_IMAGE,
    handler: async (args, context) => {
      const scope = await scopeOf(args, workspace);
      const { limit } = pageOf(args, context, DIFFERENCE_LIMIT);
      const request: Operations['compare-files']['args'] = { ...scope, limit };
      const data = foundValue(await image.call('compare-files', request, callOptions(context)));
      if (isLookupFailure(data)) return lookupResult(data);
      const [[kind, name] = []] = Object.entries(scope);
      const what = scope.path === undefined ? `${kind} ${name}` : places.fileName(scope.path);
      return { data, text: comparisonText(data, what, places) };
    },
  });
}

/** Returns the file, the system or the package that the arguments name. Throws a CallError unless they name exactly
 * one. */
async function scopeOf(
  { path, system, package: home }: Arguments,
  workspace: Workspace,
): Promise<{ path?: string; system?: string; package?: string }> {
  if ([path, system, home].filter(Boolean).length !== 1) {
    throw new CallError('Give exactly one of path, system and package.');
  }
  if (path) return { path: await sourceFile(workspace, path) };
  return home ? { package: home } : { system: system ?? '' };
}

function comparisonText(data: ComparisonData, what: string, places: Places): string {
  if (data.empty) return emptyText(what, data.needs ?? []);
  if (data.unknown) return `Nothing from ${what} was loaded into this image. Load it first.`;
  const {
    unfinished = [],
    unloaded = [],
    old = [],
    differing = [],
    unset = [],
    disk = [],
    outdated = [],
  } = data;
  const sections = [
    ...unfinished.map((file) => `The last load of ${places.fileName(file)} failed or was interrupted.`),
    unloadedText(unloaded.map((file) => places.fileName(file))),
    ...oldLines(old, data.oldTotal, places),
    evaluatedSection(old.filter(({ file }) => file === undefined)),
    differingSection(differing, data.differingTotal, places),
    ...unsetLines(unset, data.unsetTotal),
    ...disk.map((difference) => diskSection(difference, places)),
    (data.diskTotal ?? 0) > disk.length && `More files that changed: ${(data.diskTotal ?? 0) - disk.length}.`,
    ...outdatedLines(outdated, data.outdatedTotal),
    isTruncated(data) && 'Note: a higher limit lists more of each kind.',
  ].filter((section) => section !== undefined && section !== false);
  return sections.length === 0 ? `The image and ${what} agree.` : sections.join('\n');
}

/** Returns the text about WHAT, a system that has no files of its own. NEEDS are the systems that it depends on. */
function emptyText(what: string, needs: readonly string[]): string {
  const others = needs.length > 0 && ` Compare the systems that it needs: ${needs.join(', ')}.`;
  return [`The ${what} has no files of its own.`, others].filter(Boolean).join('');
}

function unloadedText(files: readonly string[]): string | undefined {
  const shown = files.slice(0, 20);
  return files.length > 0
    ? `Not loaded: ${shown.join(', ')}${moreText(shown.length, files.length)}.`
    : undefined;
}

function isTruncated(data: ComparisonData): boolean {
  const { differing = [], differingTotal = 0, disk = [], diskTotal = 0 } = data;
  return (
    isIncomplete(data) ||
    differingTotal > differing.length ||
    diskTotal > disk.length ||
    disk.some(({ forms = [], formsTotal = 0 }) => formsTotal > forms.length)
  );
}

/** ITEMS are old definitions without a file, which oldLines leaves out. */
function evaluatedSection(items: readonly OldItem[]): string | undefined {
  if (items.length === 0) return undefined;
  const rows = items.map((item) => `${itemsText([item])}${evaluationText(item)}`);
  return `In the image, but not in any loaded file:\n${indent(rows.join('\n'), 2)}\n(live-lisp:forget 'NAME) removes one from the image, and from the program's lists and hash tables.`;
}

function evaluationText({ time, by }: { time?: number; by?: string }): string {
  if (time === undefined) return '';
  const at = new Date(time * 1000).toISOString().slice(0, 19).replace('T', ' ');
  return `, evaluated at ${at} UTC${by === undefined ? '' : ` by ${by}`}`;
}

function differingSection(
  differing: readonly Difference[],
  total: number | undefined,
  places: Places,
): string | undefined {
  if (differing.length === 0) return undefined;
  const placeOf = formPlaces(places);
  const rows = differing.map((item) => {
    const name = itemsText([item]);
    const at = placeOf(item.file, item.at);
    if (item.missing) return `${name} of ${at}: not in the image`;
    if (item.other !== undefined) return `${name} of ${at}: now that of ${places.fileName(item.other)}`;
    // Without a time, no evaluated form is known to have made the definition.
    const how = item.time === undefined ? ' by code' : evaluationText(item);
    return `${name} of ${at}: redefined in the image${how}`;
  });
  return `Different in the image and in the file:\n${indent(rows.join('\n'), 2)}${moreText(differing.length, total)}`;
}

function diskSection({ file, how, forms = [], formsTotal }: DiskDifference, places: Places): string {
  const name = places.fileName(file);
  if (how === 'gone') return `${name} was loaded, but is no longer on the disk.`;
  if (how === 'unreadable')
    return `${name} cannot be read now, or is over 4 MB, so it was not compared with the loaded code; read_file reports why.`;
  if (forms.length === 0) return `${name} changed on the disk since it was loaded.`;
  const formWords = { new: 'only in the file', differs: 'differs', gone: 'no longer in the file' };
  const rows = forms.map(({ head, how: formHow, form }) => {
    const at = form === undefined ? '' : ` (${places.formNow(file, form)})`;
    return `${head}: ${formWords[formHow]}${at}`;
  });
  return `${name} changed on the disk since it was loaded; load it again. Changed forms:\n${indent(rows.join('\n'), 2)}${moreText(forms.length, formsTotal)}`;
}
