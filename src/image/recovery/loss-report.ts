// Decides how the loss of an image is told: what was built again, what was not and why, what is gone.

import type { Beginnings, Held } from './journal.ts';
import type { Rebuilt, Remark } from './rebuild-result.ts';

/** What the last loss took, and what was built again. */
export interface LossReport {
  /** When the image that took the place of the lost one was ready, as an ISO time. */
  time: string;
  /** How images were lost since the last report, as parts of a sentence. */
  how: string[];
  held: Held;
  /** Whether images are built again here. */
  replay: boolean;
  /** Absent when nothing was to be built again. */
  rebuilt?: Rebuilt;
  /** Lines of the journal that could not be read. */
  damaged?: number;
  /** Entries of the journal that were left, as somebody asked. */
  forgotten?: number;
  /** How many images in a row were built again and then lost soon, when that is suspicious. */
  barren?: number;
}

/** Lines of each kind, and names in a sentence. */
const LINES = 5;
const NAMES = 10;

/** Returns what a model reads of REPORT; more than a few of each kind are only counted. */
export function lossText(report: LossReport): string {
  const { how, held, replay, rebuilt, damaged = 0, forgotten = 0 } = report;
  const head = `This is a new Lisp image; the one before was lost: ${how.join('; then ')}.`;
  if (!replay) return `${head} ${lostText(held)}`;
  const rest = [
    beginnings('Left out on purpose, because they changed the Lisp system itself', held.damages),
    beginnings('Not run again, because they did not end well', held.unfinished),
    toolsText(held, rebuilt),
    goneText(held),
  ].filter((part) => part);
  if (rebuilt === undefined) {
    const nothing = rest.length > 0 ? 'Nothing had been defined.' : 'Nothing was lost with it.';
    const why =
      forgotten > 0
        ? `As asked, nothing was built again; the ${count(forgotten, 'step')} of the journal (definitions, loads and the like) ${forgotten === 1 ? 'is' : 'are'} forgotten.`
        : nothing;
    return [`${head} ${why}`, ...rest].join('\n');
  }
  const unreached =
    rebuilt.unreached > 0 &&
    `There was no time for the last ${count(rebuilt.unreached, 'step')}: building again takes 60 s at most.`;
  return [
    `${head} ${builtText(rebuilt)}`,
    remarks('Not built again', rebuilt.failed),
    unreached,
    damaged > 0 && `${count(damaged, 'line')} of the journal could not be read, so what they had is missing.`,
    remarks('Another than before', rebuilt.changed),
    ...rest,
    barrenText(report),
  ]
    .filter((part) => part)
    .join('\n');
}

function barrenText({ barren = 0 }: LossReport): string | false {
  return (
    barren > 0 &&
    `Each of the ${barren} images before had been built again too, and was lost soon after. If that is due to what is built again, restart_image with rebuild none starts without it.`
  );
}

/** Returns what an image took with it that is not built again. */
function lostText({ evaluations, systems, files, tools }: Held): string {
  const parts = [
    evaluations > 0 &&
      `everything that ${count(evaluations, 'evaluation')} made (definitions, values, packages, the current package)`,
    systems.length > 0 && `the loaded systems ${systems.join(', ')}`,
    files.length > 0 && `the loaded files ${files.join(', ')}`,
    tools.length > 0 && `the tools ${tools.join(', ')}`,
  ].filter((part) => part !== false);
  return parts.length === 0
    ? 'Nothing was lost with it.'
    : `Lost with it: ${parts.join('; ')}. Load or define again what you need.`;
}

function builtText({ forms, files, systems, tools, gaveUp, milliseconds }: Rebuilt): string {
  if (gaveUp) {
    return 'It was not built again: that ended the new image each time. restart_image tries once more, without what ended it.';
  }
  const parts = [
    forms > 0 && count(forms, 'form'),
    systems.length > 0 && `${count(systems.length, 'system')} (${names(systems)})`,
    files.length > 0 && `${count(files.length, 'file')} (${names(files)})`,
    tools.length > 0 && `with ${count(tools.length, 'tool')} (${names(tools)})`,
  ].filter((part) => part !== false);
  if (parts.length === 0) return 'Nothing of it could be built again.';
  const time = (milliseconds / 1000).toFixed(1);
  return `Built again in ${time} s: ${parts.join(', ')}. Variables have the values that their definitions give.`;
}

function remarks(title: string, all: Remark[]): string | false {
  if (all.length === 0) return false;
  const lines = all.slice(0, LINES).map(({ what, why }) => `  ${what}: ${oneLine(why)}`);
  const more = all.length - lines.length;
  return [`${title} (${all.length}):`, ...lines, ...(more > 0 ? [`  ... and ${more} more`] : [])].join('\n');
}

function beginnings(title: string, { count: total, first }: Beginnings): string | false {
  if (total === 0) return false;
  const lines = first.slice(0, LINES).map((text) => `  ${text}`);
  const more = total - lines.length;
  return [`${title} (${total}):`, ...lines, ...(more > 0 ? [`  ... and ${more} more`] : [])].join('\n');
}

/** Tools that were registered in a way that the journal does not know. */
function toolsText({ tools }: Held, rebuilt: Rebuilt | undefined): string | false {
  const gone = tools.filter((name) => !rebuilt?.tools.includes(name));
  return (
    gone.length > 0 && `Gone: ${count(gone.length, 'tool')} (${names(gone)}). Register what you need again.`
  );
}

function goneText({ notRun, variables }: Held): string | false {
  if (notRun === 0 && variables.length === 0) return false;
  const one = notRun === 1;
  const forms =
    notRun > 0 ? `${count(notRun, 'form')} that ${one ? 'shows' : 'show'} no definition` : 'assignments';
  const they = one ? 'it' : 'they';
  const set = variables.length > 0 ? `; ${they} may have set ${names(variables)}` : '';
  return `Not run again: ${forms}${set}. What only ${they} made is gone.`;
}

function names(all: string[]): string {
  const more = all.length - NAMES;
  return more > 0 ? `${all.slice(0, NAMES).join(', ')} and ${more} more` : all.join(', ');
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

function oneLine(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > 200 ? `${line.slice(0, 200)}...` : line;
}
