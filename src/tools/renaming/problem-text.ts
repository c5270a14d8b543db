// Renders the problems that the image had when it followed a rename.

import type { Reply } from '../../image/wire/call.ts';
import { joinSections } from '../../kernel/reply.ts';
import { displacedSection } from '../agreement.ts';
import { conditionText, endingText } from '../endings.ts';
import type { Places } from '../places.ts';
import { groupedWarnings } from '../remarks.ts';

/** Returns the problems in REPLY as text; '' when there are none. */
export function problemText(
  { data, ending }: Reply<'load-files'> | Reply<'rename-prepare'>,
  places: Places,
): string {
  const warnings = 'warnings' in data ? (data.warnings ?? []) : [];
  // Other warnings come from loading as such, for example that a test is redefined, not from the rename.
  const told = warnings.filter(
    ({ severity, offset }) =>
      severity === 'error' || severity === 'undefined' || (severity === 'warning' && offset !== undefined),
  );
  return joinSections([
    'file' in data && data.file !== undefined && `The load of ${places.fileName(data.file)} was left early.`,
    ending.kind === 'condition' ? conditionText(ending.condition, places) : endingText(ending, places),
    'displaced' in data && displacedSection(data, places),
    groupedWarnings({ warnings: told, warningCount: told.length }, places),
  ]);
}
