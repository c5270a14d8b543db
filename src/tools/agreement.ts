// Renders the agreement: the differences between the image and the files that it has loaded.

import type {
  Agreement,
  GoneItem,
  Item,
  KeptItem,
  OldItem,
  OutdatedUsers,
  RelaidStructure,
  Remarks,
  ReslottedClass,
  UnsetVariable,
} from '../image/wire/operations.ts';
import type { EarlierAnswers } from '../kernel/earlier-answers.ts';
import { groupBy } from './grouping.ts';
import type { Places } from './places.ts';

/** Returns the section about differences between the image and the files of a load; undefined when there are none.
 * Shortens differences that an earlier answer to the same client (EARLIER_ANSWERS) had already. AGREEMENT has these
 * members:
 *
 * - `doubles`: definitions that the load made twice
 * - `old`: definitions in the image that their files no longer have
 * - `gone`: definitions that the load removed, because the loaded file no longer has them
 * - `left`: definitions that the loaded file no longer has, and that the load could not remove
 * - `unset`: variables that had values already, so that DEFVAR did not set them
 * - `reslotted` and `relaid`: classes and structures whose slots changed
 * - `outdated`: definitions, such as macros, that changed after other code was compiled with them */
export function agreementSection(
  agreement: Agreement | undefined,
  places: Places,
  earlierAnswers?: EarlierAnswers,
): string | undefined {
  if (agreement === undefined) return undefined;
  const { doubles = [], old = [], unset = [], outdated = [], gone = [], left = [] } = agreement;
  const leftMore = (agreement.leftTotal ?? 0) - left.length;
  const lines = [
    ...doubleLines(doubles, agreement.doublesTotal, formPlaces(places)),
    ...(gone.length > 0
      ? [`Removed, because no longer in the file: ${itemsText(gone, agreement.goneTotal)}.`]
      : []),
    ...stillUsedLines(gone, places),
    ...unrecordedLines(gone),
    ...left.map((item) => leftText(item, places)),
    ...(leftMore > 0 ? [`Not removed either: ${leftMore} more; compare_image lists them.`] : []),
    ...oldLines(old, agreement.oldTotal, places, { forgetting: agreement.forgetting, earlierAnswers }),
    ...unsetSince(unset, agreement.unsetTotal, earlierAnswers),
    ...reslottedLines(agreement.reslotted ?? [], agreement.reslottedTotal),
    ...relaidLines(agreement.relaid ?? [], agreement.relaidTotal),
    ...outdatedLines(outdated, agreement.outdatedTotal),
    ...(isIncomplete(agreement) ? ['compare_image with limit lists the rest.'] : []),
  ];
  return lines.length > 0 ? lines.join('\n') : undefined;
}

function doubleLines(
  doubles: NonNullable<Agreement['doubles']>,
  total: number | undefined,
  placeOf: ReturnType<typeof formPlaces>,
): string[] {
  if (doubles.length === 0) return [];
  const entries = doubles.map(
    ({ kind, name, file, form, other }) =>
      `${kind} ${name} at ${placeOf(file, form)}, before at ${placeOf(file, other)}`,
  );
  return [
    `Defined twice in this load; the later one counts: ${entries.join('; ')}${moreText(doubles.length, total)}.`,
  ];
}

/** Returns a function that renders a place: top-level form number `form` of `file`. Without `form` it renders the name
 * of the file. */
export function formPlaces(places: Places) {
  return (file: string, form: number | undefined) =>
    form === undefined ? places.fileName(file) : places.locate({ file, form }, { name: '' });
}

function stillUsedLines(gone: readonly GoneItem[], places: Places): string[] {
  const used = gone.flatMap((item) => {
    const by = [...(item.users ?? []), ...formTexts(item.usedAt, places)];
    return by.length === 0
      ? []
      : `${itemsText([item])}, by ${by.join(', ')}${moreText(by.length, item.usersTotal)}`;
  });
  const named = gone.flatMap((item) => {
    const by = [...(item.inData ?? []), ...formTexts(item.inDataAt, places)];
    return by.length === 0 ? [] : `${itemsText([item])}, in ${by.join(', ')}`;
  });
  return [
    ...(used.length === 0
      ? []
      : [`Removed, but still used: ${used.join('; ')}. Change the users, or define again what they use.`]),
    ...(named.length === 0
      ? []
      : [`Removed, but still named in data: ${named.join('; ')}. Code that calls such a name would fail.`]),
  ];
}

/** Returns the line about ITEM, a definition that a load did not remove, with the reasons. */
export function leftText(item: KeptItem, places: Places): string {
  return `Not removed: ${itemsText([item])}, because of ${reasonsText(item, places)}.`;
}

function reasonsText(item: KeptItem, places: Places): string {
  return [
    ...(item.because ?? []),
    ...formTexts(item.usedAt, places),
    ...(item.definedIn ?? []).map((file) => `the definition in ${places.fileName(file)}`),
  ].join(', ');
}

function formTexts(forms: KeptItem['usedAt'] = [], places: Places): string[] {
  const placeOf = formPlaces(places);
  return forms.map(({ file, form }) => `the form at ${placeOf(file, form)}`);
}

/** Maximum number of names in a shortened line, and of lines about definitions that cannot be removed. */
const SHORT_LIST_LIMIT = 5;

/** Returns lines about the definitions OLD, which are in the image although their files no longer have them, and how to
 * remove them. TOTAL is the number of all such definitions. `forgetting` is the file that this call loaded with
 * forget: true; undefined for other calls. A file whose definitions an earlier answer listed gets a shorter line. */
export function oldLines(
  old: readonly OldItem[],
  total: number | undefined,
  places: Places,
  {
    forgetting,
    earlierAnswers,
  }: { forgetting?: string | undefined; earlierAnswers?: EarlierAnswers | undefined } = {},
): string[] {
  // What the load removed can come back later. Then it is listed in full again.
  if (forgetting !== undefined) earlierAnswers?.forget(`old ${forgetting}`);
  const kindOf = (file: string, items: readonly OldItem[]) => {
    // The image tries to remove all old definitions of the file or none, and OLD lacks those that it tried. The next
    // load with forget: true removes these, so this answer names all of them, even if an earlier answer did.
    if (file === forgetting) return 'not removed';
    return earlierAnswers?.repeats(`old ${file}`, itemsText(items)) ? 'listed before' : 'new';
  };
  const inFiles = old.filter(({ file }) => file !== undefined);
  const groups = [...groupBy(inFiles, ({ file = '' }) => file)].map(([file, items]) => ({
    file,
    items,
    kind: kindOf(file, items),
  }));
  const more = (total ?? old.length) - old.length;
  const notRemoved = groups.filter(({ kind }) => kind === 'not removed');
  const news = groups.flatMap(({ kind, items }) => (kind === 'new' ? items : []));
  return [
    ...groups.map(({ file, items, kind }) => {
      const name = places.fileName(file);
      return kind === 'listed before'
        ? `Still in the image, not in ${name}: ${itemsText(items.slice(0, SHORT_LIST_LIMIT), items.length)}.`
        : `In the image but no longer in ${name}: ${itemsText(items)}.`;
    }),
    ...(more > 0 ? [`More such definitions: ${more}.`] : []),
    ...notRemoved.flatMap(({ file, items }) => [
      notRemovedText(file, more, places),
      ...stayingLines(items, places),
    ]),
    ...(news.length > 0 ? ['load_file with forget: true removes what its file no longer has.'] : []),
    ...stayingLines(news, places),
  ];
}

/** Returns the line about a load with forget: true that removed nothing. MORE is the number of definitions that no
 * answer has listed yet. */
function notRemovedText(file: string, more: number, places: Places): string {
  const nothing = `No definition of ${places.fileName(file)} was removed`;
  return more > 0
    ? `${nothing}, because not all these definitions have been listed yet. To list more of them, repeat load_file with forget: true.`
    : `${nothing}: forget: true removes only what an earlier answer listed, and this answer lists some definitions for the first time. To remove all, repeat load_file with forget: true.`;
}

/** Returns lines about those definitions of OLD that load_file with forget: true would not remove, with the reasons. */
function stayingLines(old: readonly OldItem[], places: Places): string[] {
  const lines = old.flatMap((item) => {
    const reasons = reasonsText(item, places);
    return reasons === '' ? [] : `It would leave ${itemsText([item])}, because of ${reasons}.`;
  });
  const more = lines.length - SHORT_LIST_LIMIT;
  return [
    ...lines.slice(0, SHORT_LIST_LIMIT),
    ...(more > 0 ? [`It would leave ${more} more.`] : []),
    ...unrecordedLines(old),
  ];
}

/** The kinds of definitions whose users SBCL does not record. */
const UNRECORDED = ['type', 'setf expander', 'alien type'];

function unrecordedLines(items: readonly Item[]): string[] {
  const unrecorded = items.filter(({ kind }) => UNRECORDED.includes(kind));
  return unrecorded.length > 0
    ? [
        `SBCL does not record who uses ${itemsText(unrecorded)}. search_in_buffer finds ${unrecorded.length === 1 ? 'its name' : 'their names'} in files.`,
      ]
    : [];
}

/** Returns lines about the variables UNSET, which a load did not set because they already had values. */
export function unsetLines(unset: readonly UnsetVariable[], total?: number): string[] {
  if (unset.length === 0) return [];
  return [
    `Not set again, because bound: ${unset.map(unsetEntry).join('; ')}${moreText(unset.length, total)}.`,
  ];
}

function unsetEntry({ name, value, says }: UnsetVariable): string {
  return says === undefined
    ? `${name} is ${value}, its form has changed`
    : `${name} is ${value}, the file says ${says}`;
}

/** Splits UNSET, variables that a load did not set. `before` are those that an earlier answer listed with the same
 * value, `news` are the others. */
export function splitUnset(
  unset: readonly UnsetVariable[],
  earlierAnswers: EarlierAnswers | undefined,
): { before: UnsetVariable[]; news: UnsetVariable[] } {
  const before = unset.filter((variable) =>
    earlierAnswers?.repeats(`unset ${variable.name}`, unsetEntry(variable)),
  );
  return { before, news: unset.filter((variable) => !before.includes(variable)) };
}

/** Returns the names of the first variables in UNSET, and how many of TOTAL are not named. */
export function unsetNames(unset: readonly UnsetVariable[], total = unset.length): string {
  const names = unset.slice(0, SHORT_LIST_LIMIT).map(({ name }) => name);
  return names.join(', ') + moreText(names.length, total);
}

/** Returns lines about the variables UNSET, which a load did not set. Of variables that an earlier answer listed, only
 * the names are given. */
function unsetSince(
  unset: readonly UnsetVariable[],
  total: number | undefined,
  earlierAnswers: EarlierAnswers | undefined,
): string[] {
  const { before, news } = splitUnset(unset, earlierAnswers);
  return [
    ...unsetLines(news, total === undefined ? undefined : total - before.length),
    ...(before.length > 0 ? [`Still not set again: ${unsetNames(before)}.`] : []),
  ];
}

function reslottedLines(classes: readonly ReslottedClass[], total?: number): string[] {
  if (classes.length === 0) return [];
  const entries = classes.map((changed) => {
    const { name, gone = [], instances } = changed;
    const parts = [
      changed.new?.length && `new ${changed.new.join(', ')}`,
      gone.length > 0 && `gone ${gone.join(', ')}`,
      instances && `${instances} ${instances === 1 ? 'instance changes' : 'instances change'} when next used`,
    ];
    return `${name} (${parts.filter(Boolean).join('; ')})`;
  });
  return [`Classes whose slots changed: ${entries.join(', ')}${moreText(classes.length, total)}.`];
}

function relaidLines(structures: readonly RelaidStructure[], total?: number): string[] {
  const lines = structures.map(({ name, taken, instances = taken ? 'some' : 'perhaps some' }) => {
    const isOne = instances === 1;
    const count = isOne ? '1 instance' : `${instances} instances`;
    const them = isOne ? 'it' : 'them';
    return taken
      ? `The structure ${name} changed; ${count} may still have the old layout. The structure's functions read slots at the new positions, so on an old instance they return wrong values or corrupt memory. Make ${them} again.`
      : `The structure ${name} changed; ${count} still ${isOne ? 'has' : 'have'} the old layout. The structure's functions refuse ${them}. Make ${them} again.`;
  });
  const more = (total ?? lines.length) - lines.length;
  return more > 0 ? [...lines, `More structures with such instances: ${more}.`] : lines;
}

/** Returns lines about code that was compiled with an older version of a definition, such as a macro. */
export function outdatedLines(outdated: readonly OutdatedUsers[], total?: number): string[] {
  const lines = outdated.map(({ name, kind, gone, users, total: userTotal }) => {
    const them = userTotal === 1 ? 'it' : 'them';
    const named = `${users.join(', ')}${moreText(users.length, userTotal)}`;
    return gone
      ? `Compiled with ${name}, which the image no longer has: ${named}. Change this code, or define ${name} again.`
      : `Compiled before the ${kind} ${name} changed: ${named}. Load ${them} again.`;
  });
  const more = (total ?? lines.length) - lines.length;
  return more > 0 ? [...lines, `More changed definitions with such users: ${more}.`] : lines;
}

/** Returns true when a list that compare_image shows too leaves out items. */
export function isIncomplete({
  old,
  oldTotal,
  unset,
  unsetTotal,
  outdated,
  outdatedTotal,
}: Agreement): boolean {
  const isTruncated = (items: readonly object[] = [], total = 0) => total > items.length;
  return (
    isTruncated(old, oldTotal) ||
    isTruncated(unset, unsetTotal) ||
    isTruncated(outdated, outdatedTotal) ||
    (outdated ?? []).some(({ users, total }) => total > users.length)
  );
}

/** Returns the section about methods that SBCL removed because the lambda list of their generic function changed;
 * undefined when there are none. Methods that were defined again later are not among them. */
export function displacedSection(
  { displaced = [], displacedTotal }: Pick<Remarks, 'displaced' | 'displacedTotal'>,
  places: Places,
): string | undefined {
  if (displaced.length === 0) return undefined;
  const files = groupBy(displaced, ({ file = '' }) => file);
  const entries = [...files].map(
    ([file, items]) =>
      `${itemsText(items)} ${file === '' ? 'that no file has' : `of ${places.fileName(file)}`}`,
  );
  const more = moreText(displaced.length, displacedTotal);
  return `Removed from the image, because the lambda list of the generic function changed: ${entries.join('; ')}${more}. Define each with the new arguments.`;
}

/** Returns ITEMS as text, grouped by kind, as in `functions A, B; class C`. If TOTAL is higher than their number, says
 * how many are not listed. */
export function itemsText(items: readonly Item[], total = items.length): string {
  const groups = [...groupBy(items, ({ kind }) => kind)].map(([kind, all]) => {
    const names = all.map(({ name }) => name);
    return `${names.length === 1 ? kind : pluralOf(kind)} ${names.join(', ')}`;
  });
  return groups.join('; ') + moreText(items.length, total);
}

function pluralOf(kind: string): string {
  return kind.endsWith('s') ? `${kind}es` : kind.endsWith('y') ? `${kind.slice(0, -1)}ies` : `${kind}s`;
}

/** Returns the end of a list that shows SHOWN of TOTAL items: how many it does not show, or '' when it shows all. */
export function moreText(shown: number, total = shown): string {
  return total > shown ? ` and ${total - shown} more` : '';
}
