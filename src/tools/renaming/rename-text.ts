// Decides how a rename reads, before and after it is done.

import type { RenameFacts } from '../../image/wire/renaming.ts';
import { joinSections } from '../../kernel/reply.ts';
import { visibleName } from '../../visible.ts';
import { itemsText } from '../agreement.ts';
import type { Followed } from './follow.ts';
import type { KeptPlace, RenamePlan } from './plan.ts';

/** Files, and places of each kind, that are told. */
const FILES = 40;
const PLACES = 20;

/** Returns how many places PLAN changes in how many files, with the lines of each file. */
export function placesText({ changes }: RenamePlan, lines: boolean): string {
  const places = changes.reduce((sum, { edits }) => sum + edits.length, 0);
  const files = changes.map((change) => {
    const name = visibleName(change.present.name);
    return lines ? `  ${name}: ${[...new Set(change.lines)].join(', ')}` : `${name} ${change.edits.length}`;
  });
  const more = files.length > FILES ? [lines ? '  ...' : '...'] : [];
  const shown = [...files.slice(0, FILES), ...more];
  return `${counted(places, 'place')} in ${counted(changes.length, 'file')}${lines ? ` (lines):\n${shown.join('\n')}` : `: ${shown.join(', ')}`}`;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

/** Returns what a rename of what FACTS tell does besides PLAN's places, and what it leaves. */
export function notesText(facts: RenameFacts, plan: RenamePlan): string {
  const [, ...more] = facts.renamings;
  return [
    more.length > 0 && `With it: ${listed(more.map(({ from, to }) => `${from} to ${to}`))}.`,
    ...keptLines(plan.kept),
    plan.merged.length > 0 &&
      `The new name stands there already, and means the same symbol then: ${listed(plan.merged)}.`,
    plan.outside.length > 0 && `Used in files that cannot be written, which break: ${listed(plan.outside)}.`,
    plan.cut.length > 0 && `Not looked at from there on, because it cannot be read: ${listed(plan.cut)}.`,
    plan.unfinished && 'The workspace is too large to look at all files that are not loaded.',
  ]
    .filter((line) => line !== false)
    .join('\n');
}

const KEPT: readonly [why: KeptPlace['why'], text: string][] = [
  [
    'package definition',
    'in a package definition that computes its options: look whether it names the symbol',
  ],
  ['prose', 'in comments, strings and other texts (text: true changes them)'],
  ['string', 'in strings of the name alone'],
  ['keyword', 'keywords of that name (keywords: true follows parameters)'],
  ['word of LOOP', 'as a word of LOOP'],
  ['unknown package', 'in packages that are not loaded'],
];

function keptLines(kept: readonly KeptPlace[]): string[] {
  return KEPT.flatMap(([why, text]) => {
    const places = kept.filter((each) => each.why === why).map(({ at }) => at);
    return places.length === 0
      ? []
      : [`Not changed, ${places.length} ${text}: ${listed([...new Set(places)])}.`];
  });
}

function listed(texts: readonly string[]): string {
  const more = texts.length - PLACES;
  const files = new Map<string, string[]>();
  for (const text of texts.slice(0, PLACES)) {
    const [, file = text, line] = /^(.*):(\d+)$/s.exec(text) ?? [];
    files.set(file, [...(files.get(file) ?? []), ...(line === undefined ? [] : [line])]);
  }
  const shown = [...files].map(([file, lines]) => (lines.length > 0 ? `${file}:${lines.join(',')}` : file));
  return shown.join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** Returns how it reads what became of the image. */
export function followedText(followed: Followed): string | undefined {
  const { loaded, problems, failed, users, gone, goneTotal, left } = followed;
  const kept = failed
    ? 'The files are written, but the image keeps what it had under the old name.'
    : users.length > 0 &&
      `The image keeps the old name too, because of ${listed([...new Set(users)])}: load or define ${users.length === 1 ? 'it' : 'them'} again.`;
  return joinSections([
    [
      loaded.length === 0
        ? 'The image has loaded none of these files.'
        : `Loaded again: ${counted(loaded.length, 'file')}.`,
      gone.length > 0 && `Removed: ${itemsText(gone, goneTotal)}.`,
      ...left.map(
        (item) => `Not removed: ${itemsText([item])}, because of ${(item.because ?? []).join(', ')}.`,
      ),
      kept,
    ]
      .filter(Boolean)
      .join(' '),
    ...problems,
  ]);
}
