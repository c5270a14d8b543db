// Renders a load of files: how it ended, warnings, and differences between the image and the files.

import type { Reply } from '../../image/wire/call.ts';
import type { Remarks } from '../../image/wire/operations.ts';
import { joinSections } from '../../kernel/reply.ts';
import type { CallContext, Result } from '../../kernel/tool.ts';
import { agreementSection, displacedSection } from '../agreement.ts';
import { timeoutAdvice } from '../calling.ts';
import { holdingSection } from '../debug/hold.ts';
import { conditionText, endingText, NO_MANAGER, outputSection, waitedNote } from '../endings.ts';
import { imbalanceText } from '../parentheses.ts';
import type { Places } from '../places.ts';
import { groupedWarnings, readtableSection, redefinedSection } from '../remarks.ts';

/** Maximum number of files of a load whose parentheses are checked. */
const CHECKED_FILES = 5;

/** Maximum number of characters to show of the output of a successful load. A C compiler may write much
 *  more. */
const OUTPUT_LIMIT = 4000;

/** Returns sentences on wrong parentheses in the files in which the compiler found errors; '' when there are
 *  none. */
function parenthesesSection({ warnings = [] }: Remarks, places: Places): string | undefined {
  const failed = warnings.flatMap(({ severity, file }) => (severity === 'error' && file ? [file] : []));
  const texts = [...new Set(failed)].slice(0, CHECKED_FILES).map((file) => {
    const text = places.sourceText(file)?.text.replace(/^\ufeff/, '');
    return text === undefined ? undefined : imbalanceText(places.fileName(file), text);
  });
  return joinSections(texts);
}

/** An answer to a command with more lines than this ends with its headline again, since a reader with `| tail -5` does
 *  not see the first lines. */
const TAIL_LINES = 5;

/** Returns TEXT, which begins with HEADLINE. When TEXT is long, the first line of HEADLINE is also at its
 *  end. */
function withHeadlineAtEnd(text: string, headline: string): string {
  const long = text.split('\n').length > TAIL_LINES;
  return joinSections([text, long && headline.split('\n', 1)[0]]);
}

/** Returns the result of a load in the call with CONTEXT. Its text begins with HEADLINE, unless that is empty.
 *  SAME says which warnings were left out of the reply. */
export function loadResult(
  {
    ending,
    output,
    data,
    waitedMs,
  }: Reply<'load-file' | 'load-source'> | Reply<'load-system'> | Reply<'check-file'>,
  headline: string,
  places: Places,
  { command, told }: CallContext,
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
    agreementSection(data.value?.agreement, places, told),
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
