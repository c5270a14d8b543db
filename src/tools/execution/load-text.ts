// Renders a load of files: how it ended, its warnings, and the differences between the image and the files.

import type { Reply } from '../../image/wire/call.ts';
import type { Remarks, Twin } from '../../image/wire/operations.ts';
import type { EarlierAnswers } from '../../kernel/earlier-answers.ts';
import { joinSections } from '../../kernel/reply.ts';
import type { CallContext, Result } from '../../kernel/tool.ts';
import { agreementSection, displacedSection } from '../agreement.ts';
import { timeoutAdvice } from '../calling.ts';
import { holdingSection } from '../debug/held-text.ts';
import type { HeldToolCalls } from '../debug/hold.ts';
import { conditionText, endingText, NO_MANAGER, outputSection, waitedNote } from '../endings.ts';
import { imbalanceText } from '../parentheses.ts';
import type { Places } from '../places.ts';
import { groupedWarnings, readtableSection, redefinedSection } from '../remarks.ts';
import type { ShownWarnings } from '../shown-warnings.ts';

/** The objects that the loading tools work with. `shownWarnings` records the warnings of earlier answers. */
export interface LoadContext {
  places: Places;
  holds: HeldToolCalls;
  shownWarnings: ShownWarnings;
}

/** Maximum number of characters that are shown of the output of a successful load. A C compiler may write much more. */
const OUTPUT_LIMIT = 4000;

/** Returns the result of a load. Its text begins with HEADLINE, unless HEADLINE is ''. SAME is a sentence about
 * warnings that the reply leaves out. */
export function loadResult(
  {
    ending,
    output,
    data,
    waitedMs,
  }: Reply<'load-file' | 'load-source'> | Reply<'load-system'> | Reply<'check-file'>,
  headline: string,
  places: Places,
  { command, earlierAnswers }: CallContext,
  same = '',
): Result {
  const failed = ending.kind !== 'done' || (data.value !== undefined && 'notLoaded' in data.value);
  const text = joinSections([
    headline,
    ending.kind === 'condition' ? conditionText(ending.condition, places) : endingText(ending, places),
    timeoutAdvice(ending),
    data.withoutManager && NO_MANAGER,
    holdingSection(data),
    groupedWarnings(data, places),
    same,
    parenthesesSection(data, places),
    redefinedSection(data),
    displacedSection(data, places),
    agreementSection(data.value?.agreement, places, earlierAnswers),
    readtableSection(data),
    outputSection(output, failed ? undefined : OUTPUT_LIMIT),
  ]);
  return {
    data: { ...data.value, ending },
    text: command === undefined ? text : withHeadlineAtEnd(text, headline),
    failed,
    ...waitedNote(waitedMs),
  };
}

const CHECKED_FILES = 5;

/** Returns sentences about unbalanced parentheses in those files that have compiler errors; undefined when there are
 * none. */
function parenthesesSection({ warnings = [] }: Remarks, places: Places): string | undefined {
  const failed = warnings.flatMap(({ severity, file }) => (severity === 'error' && file ? [file] : []));
  const texts = [...new Set(failed)].slice(0, CHECKED_FILES).map((file) => {
    const text = places.sourceText(file)?.text.replace(/^\ufeff/, '');
    return text === undefined ? undefined : imbalanceText(places.fileName(file), text);
  });
  return joinSections(texts);
}

/** On the command line, an answer with more lines than this has its headline also at the end, because `| tail -5` would
 * hide the first lines. */
const TAIL_LINES = 5;

function withHeadlineAtEnd(text: string, headline: string): string {
  const long = text.split('\n').length > TAIL_LINES;
  return joinSections([text, long && headline.split('\n', 1)[0]]);
}

/** Maximum number of notes about twins. A twin is a loaded system for whose name ASDF can find a second file. */
const TWIN_LIMIT = 5;

/** Returns notes about TWINS, loaded systems for whose names ASDF can find a second file. Leaves out the notes that
 * earlier answers had. Returns '' when no note remains. */
export function twinsText(
  twins: readonly Twin[] = [],
  places: Places,
  earlierAnswers?: EarlierAnswers,
): string {
  const news = twins.filter(
    ({ name, file, other }) => !earlierAnswers?.repeats(`twin ${name}`, `${file} ${other}`),
  );
  const notes = news
    .slice(0, TWIN_LIMIT)
    .map(
      ({ name, file, other }) =>
        `Note: ${name} was loaded from ${places.fileName(file)}; the other ${name}, in ${places.fileName(other)}, is not used.`,
    );
  const others = news.slice(TWIN_LIMIT).map(({ name }) => name);
  const more = others.length > 0 ? [`Note: others named ${others.join(', ')} are not used either.`] : [];
  return [...notes, ...more].join('\n');
}
