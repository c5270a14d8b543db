// Renders the plan and the result of a rename.

import type { RenameFacts } from '../../image/wire/operations.ts';
import { counted, joinSections } from '../../kernel/reply.ts';
import { ownWords, QuestionLine, questionLine } from '../../question-line.ts';
import { visibleName } from '../../visible.ts';
import { itemsText, leftText } from '../agreement.ts';
import { groupBy } from '../grouping.ts';
import type { Places } from '../places.ts';
import type { Followed } from './follow.ts';
import type { KeptPlace, RenamePlan } from './plan.ts';

const FILE_LIMIT = 40;
const PLACE_LIMIT = 20;

/** Returns the number of places and files that a plan changes, and a list of the files. If LINES is true, the list has
 * the numbers of the changed lines of each file. Otherwise it has the number of places. */
export function placesText({ changes }: RenamePlan, lines: boolean): string {
  const places = changes.reduce((sum, { edits }) => sum + edits.length, 0);
  const files = changes.map((change) => {
    const name = visibleName(change.present.name);
    return lines ? `  ${name}: ${[...new Set(change.lines)].join(', ')}` : `${name} ${change.edits.length}`;
  });
  const more = files.length > FILE_LIMIT ? [lines ? '  ...' : '...'] : [];
  const shown = [...files.slice(0, FILE_LIMIT), ...more];
  return `${counted(places, 'place')} in ${counted(changes.length, 'file')}${lines ? ` (lines):\n${shown.join('\n')}` : `: ${shown.join(', ')}`}`;
}

/** Returns lines about the derived names, and about the occurrences that are not renamed. */
export function renameNotes(facts: RenameFacts, plan: RenamePlan): QuestionLine[] {
  const [, ...more] = facts.renamings;
  return [
    more.length > 0 &&
      questionLine`With it: ${listed(more.map(({ from, to }) => questionLine`${from} to ${to}`))}.`,
    ...keptLines(plan),
    plan.merged.length > 0 &&
      questionLine`Places that already have the new name, and will refer to the renamed symbol: ${listed(plan.merged)}.`,
    plan.outside.length > 0 &&
      questionLine`Uses that will break, because their files cannot be written: ${listed(plan.outside)}.`,
    plan.unreadFrom.length > 0 &&
      questionLine`Not searched, because unreadable from these lines on: ${listed(plan.unreadFrom)}.`,
    plan.unread.length > 0 &&
      questionLine`Not searched, because unreadable or too large: ${listed(plan.unread)}.`,
    plan.unfinished && questionLine`The workspace is too large to search all files that are not loaded.`,
  ].filter((line) => line !== false);
}

const KEPT = [
  [
    'package definition',
    'in a package definition that computes its options (check whether it names the symbol)',
  ],
  ['prose', 'in comments, strings and other texts (text: true changes them)'],
  ['string', 'in strings that can name it'],
  ['keyword', 'keywords of that name (keywords: true changes its keyword parameters and initargs)'],
  ['word of LOOP', 'as a word of LOOP'],
  ['unknown package', 'in packages that are not loaded'],
] as const satisfies readonly [why: KeptPlace['why'], text: string][];

/** The text about keywords that are not renamed although the call gives keywords: true. */
const KEYWORDS_LEFT = 'keywords of that name (check whether they name its parameters or initargs)';

function keptLines({ kept, wanted }: RenamePlan): QuestionLine[] {
  return KEPT.flatMap(([why, plain]) => {
    const text = why === 'keyword' && wanted.keywords ? KEYWORDS_LEFT : plain;
    const places = kept.filter((each) => each.why === why).map(({ at }) => at);
    return places.length === 0
      ? []
      : [questionLine`Not changed, ${places.length} ${ownWords(text)}: ${listed([...new Set(places)])}.`];
  });
}

/** Returns THINGS as a list. Places in one file are joined to FILE:LINE,LINE. */
function listed(things: readonly (string | QuestionLine)[]): QuestionLine {
  const more = things.length - PLACE_LIMIT;
  const places = things.slice(0, PLACE_LIMIT).map((thing) => {
    const [, file, line] = /^(.*):(\d+)$/s.exec(String(thing)) ?? [];
    return { name: thing instanceof QuestionLine ? thing : (file ?? thing), line };
  });
  const shown = [...groupBy(places, ({ name }) => String(name)).values()].map(([first, ...others]) => {
    const lines = others.reduce(
      (all, { line = '' }) => questionLine`${all},${line}`,
      questionLine`${first?.line ?? ''}`,
    );
    return first?.line === undefined
      ? questionLine`${first?.name ?? ''}`
      : questionLine`${first.name}:${lines}`;
  });
  return more > 0 ? questionLine`${shown} and ${more} more` : questionLine`${shown}`;
}

/** Returns the text that says how the image changed after a rename. */
export function followedText(followed: Followed, places: Places): string | undefined {
  const { loaded, problems, failed, users, gone, goneTotal, left } = followed;
  const kept = failed
    ? 'The files are written, but the image keeps the definitions under the old name. Correct the errors below, then load the files with load_file.'
    : users.length > 0 &&
      `The image keeps the old name too, because of its uses in ${listed([...new Set(users)])}: load or define ${users.length === 1 ? 'it' : 'them'} again.`;
  return joinSections([
    [
      loaded.length === 0
        ? failed
          ? 'None of these files was loaded to its end.'
          : 'The image has loaded none of these files.'
        : `Loaded again: ${counted(loaded.length, 'file')}.`,
      gone.length > 0 && `Removed: ${itemsText(gone, goneTotal)}.`,
      ...left.map((item) => leftText(item, places)),
      kept,
    ]
      .filter(Boolean)
      .join(' '),
    ...problems,
  ]);
}
