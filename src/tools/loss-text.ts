// Renders the loss of an image: what was rebuilt, what was not, and why.

import type {
  Beginnings,
  Cause,
  ImageContents,
  LossReport,
  Rebuilt,
  Remark,
} from '../image/recovery/report.ts';
import type { Ending } from '../image/wire/endings.ts';
import { TIMES } from '../image/wire/times.ts';
import { counted, cutText, fewOf } from '../kernel/reply.ts';
import { secondsText } from './endings.ts';

/** Maximum number of lines in a section. */
const LINE_LIMIT = 5;
/** Maximum number of names in a sentence. */
const NAME_LIMIT = 10;

/** Sections that list forms of the lost image. Each has a title, and a function that returns the forms. */
const FORM_SECTIONS: readonly [title: string, formsOf: (held: ImageContents) => Beginnings][] = [
  [
    'Forms rebuilt with the initial values of variables, not the values set since',
    ({ differing }) => differing,
  ],
  ['Left out on purpose, because they changed the Lisp system itself', ({ damages }) => damages],
  ['Forms not run again, because they failed or were interrupted', ({ unfinished }) => unfinished],
];

/** Returns REPORT, of the loss of an image, as text for a model. */
export function lossText(report: LossReport): string {
  const { how, held, replay, rebuilt } = report;
  // The tool image_status replaces the beginning of this sentence.
  const head = `This is a new Lisp image; the one before was lost: ${how.join('; then ')}.`;
  if (!replay) return `${head} ${lostText(held)}`;
  const rest = [
    ...FORM_SECTIONS.map(([title, formsOf]) => section(title, formsOf(held))),
    toolsText(held, rebuilt),
    goneText(held),
  ].filter((part) => part);
  if (rebuilt === undefined) return [`${head} ${nothingText(report, rest.length > 0)}`, ...rest].join('\n');
  return [
    `${head} ${builtText(rebuilt)}`,
    section('Not rebuilt', linesOf(rebuilt.failed)),
    unreachedText(rebuilt),
    damagedText(report),
    section('Rebuilt, but this is missing', linesOf(rebuilt.missing)),
    section('Files changed or gone since they were loaded', linesOf(rebuilt.changed)),
    ...rest,
    barrenText(report),
  ]
    .filter((part) => part)
    .join('\n');
}

function nothingText({ forgotten = 0, held }: LossReport, isMoreBelow: boolean): string {
  if (forgotten === 0 && held.unfinished.count > 0) return 'There was nothing to rebuild.';
  if (forgotten === 0) return isMoreBelow ? 'Nothing had been defined.' : 'Nothing was lost with it.';
  const steps = `the ${counted(forgotten, 'step')} of the journal (definitions, loads and the like)`;
  return `As requested, nothing was rebuilt; ${steps} ${forgotten === 1 ? 'was' : 'were'} discarded.`;
}

function unreachedText({ unreached }: Rebuilt): string {
  if (unreached === 0) return '';
  return `There was no time to run the last ${counted(unreached, 'step')}: after ${TIMES.rebuild / 1000} s, no further step is started. Call restart_image to try again, or load what you need.`;
}

function damagedText({ damaged = 0 }: LossReport): string {
  if (damaged === 0) return '';
  return `${counted(damaged, 'line')} of the journal could not be read, so the steps in them are missing.`;
}

function barrenText({ barren = 0 }: LossReport): string {
  if (barren === 0) return '';
  return `The ${barren} previous images were also rebuilt, and each was lost soon after. If the rebuilt state is the cause, call restart_image with rebuild: none.`;
}

function lostText({ evaluations, systems, files, tools }: ImageContents): string {
  const made = 'made (definitions, values, packages, the current package)';
  const parts = [
    evaluations > 0 && `everything that ${counted(evaluations, 'evaluation')} ${made}`,
    systems.length > 0 && `the loaded systems ${systems.join(', ')}`,
    files.length > 0 && `the loaded files ${files.join(', ')}`,
    tools.length > 0 && `the tools ${tools.join(', ')}`,
  ].filter((part) => part !== false);
  if (parts.length === 0) return 'Nothing was lost with it.';
  return `Lost with it: ${parts.join('; ')}. Load or define again what you need.`;
}

function builtText({ forms, files, systems, tools, gaveUp, milliseconds }: Rebuilt): string {
  if (gaveUp) {
    return 'The state of the lost image was not rebuilt: each attempt ended the new image. restart_image tries once more, without the steps that ended it.';
  }
  const parts = [
    forms > 0 && counted(forms, 'form'),
    systems.length > 0 && `${counted(systems.length, 'system')} (${fewOf(systems, NAME_LIMIT)})`,
    files.length > 0 && filesText(files),
    tools.length > 0 && `with ${counted(tools.length, 'tool')} (${fewOf(tools, NAME_LIMIT)})`,
  ].filter((part) => part !== false);
  if (parts.length === 0) return 'Nothing of the lost image could be rebuilt.';
  const time = (milliseconds / 1000).toFixed(1);
  return `Rebuilt in ${time} s: ${parts.join(', ')}. Variables have the values that their definitions give.`;
}

/** Returns the number and names of FILES. The folder that contains all of them is shown once, before the names. */
function filesText(files: readonly string[]): string {
  const [first = [], ...others] = files.map((file) => file.split('/').slice(0, -1));
  const differs = first.findIndex((part, at) => others.some((parts) => parts[at] !== part));
  const folder = (differs === -1 ? first : first.slice(0, differs)).join('/');
  const [where, names] =
    others.length === 0 || folder === ''
      ? ['', files]
      : [` in ${folder}`, files.map((file) => file.slice(folder.length + 1))];
  return `${counted(files.length, 'file')}${where} (${fewOf(names, NAME_LIMIT)})`;
}

function section(title: string, { count: total, first }: Beginnings): string {
  if (total === 0) return '';
  const lines = first.slice(0, LINE_LIMIT).map((text) => `  ${text}`);
  const more = total - lines.length;
  return [`${title} (${total}):`, ...lines, ...(more > 0 ? [`  ... and ${more} more`] : [])].join('\n');
}

function linesOf(remarks: Remark[]): Beginnings {
  const first = remarks.map(({ what, cause, leftOut }) => {
    const why = leftOut ? `${causeText(cause)}; it is left out from now on` : causeText(cause);
    return `${what}: ${oneLine(why)}`;
  });
  return { count: remarks.length, first };
}

function causeText(cause: Cause): string {
  switch (cause.kind) {
    case 'text':
      return cause.text;
    case 'ended':
      return endedText(cause.ending);
    case 'not ended':
      return 'it did not end';
    case 'not compiled':
      return 'it could not be compiled';
    case 'no such system':
      return 'ASDF does not find it any more.';
    case 'image broken':
      return 'with it the image cannot read, evaluate and print any more';
    case 'file gone':
      return 'It is gone, and its old content was not kept.';
    case 'not kept':
      return 'Its old content was not kept. Load the file again with load_file.';
    case 'file changed':
      return cause.again === 'kept'
        ? `${cause.gone ? 'is gone' : 'has changed since'}; its old content was loaded again`
        : 'has changed since; its old content was not kept, so the new content was loaded';
    case 'system changed': {
      const files = cause.count === 1 ? 'one of its files has' : `${cause.count} of its files have`;
      return `${files} changed since; the new content was loaded`;
    }
    case 'names missing':
      return cause.names.join(', ');
  }
}

function endedText(ending: Ending): string {
  switch (ending.kind) {
    case 'condition':
      return ending.condition.text;
    case 'lost':
      return `the new image was lost at this step (${ending.how})`;
    case 'interrupted':
      return `it was interrupted after ${secondsText(ending.afterMs)} (${ending.reason})`;
    default:
      return 'it did not end';
  }
}

function toolsText({ tools }: ImageContents, rebuilt: Rebuilt | undefined): string {
  const gone = tools.filter((name) => !rebuilt?.tools.includes(name));
  if (gone.length === 0) return '';
  return `Gone: ${counted(gone.length, 'tool')} (${fewOf(gone, NAME_LIMIT)}). Register what you need again.`;
}

function goneText({ notRun, variables }: ImageContents): string {
  if (notRun === 0 && variables.length === 0) return '';
  // A form that failed or changed the Lisp system is not in `notRun`, but can have set variables too.
  const what = notRun > 0 ? `${counted(notRun, 'form')} in which no definition was seen` : 'assignments';
  const they = notRun === 1 ? 'it' : 'they';
  const these = notRun === 1 ? 'this form' : notRun > 0 ? 'these forms' : 'these assignments';
  const set = variables.length > 0 ? `; ${they} may have set ${fewOf(variables, NAME_LIMIT)}` : '';
  return `Not run again: ${what}${set}. What only ${these} created is gone.`;
}

function oneLine(text: string): string {
  return cutText(text.replace(/\s+/g, ' ').trim(), 200);
}
