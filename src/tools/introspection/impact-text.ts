// Renders the effects of a change of a definition.

import type { EarlierAnswers } from '../../kernel/earlier-answers.ts';
import { PARTIAL_NOTE } from '../definitions/in-workspace.ts';
import { type CallImpact, callSections, findingSection, recompileText } from './impact-calls-text.ts';
import {
  accessorSections,
  type ClassImpact,
  classText,
  OTHER_LAYOUT,
  subclassSection,
  superclassText,
} from './impact-classes-text.ts';
import { placeText, type RemovalImpact, removalSections } from './impact-removal-text.ts';
import { callList, layOut, locatedRows, wholeFirst } from './impact-sections.ts';
import { recordedText, type TestImpact, testSection, unloadedText } from './impact-tests-text.ts';

/** The effects of a change of a definition. */
export interface Impact extends CallImpact, ClassImpact, RemovalImpact, TestImpact {
  /** The texts of all definitions of the name, each with its place. */
  texts: string[];
}

const TEST_LIMIT = 5;

/** Renders IMPACT with at most LIMIT rows of each kind and TEST_LIMIT tests. EARLIER_ANSWERS are the texts that the
 * same client has got already. A part that is among them is shortened. */
export function impactText(
  impact: Impact,
  limit: number,
  testLimit = TEST_LIMIT,
  earlierAnswers?: EarlierAnswers,
): string {
  const { recompile } = impact;
  return layOut(
    [
      headline(impact),
      ...wholeFirst([...callSections(impact), ...removalSections(impact)], limit),
      impact.references,
      findingSection(impact, earlierAnswers),
      {
        header: 'Methods that would not be congruent with the generic function',
        rows: locatedRows(impact.methods),
      },
      superclassText(impact),
      impact.otherLayout && OTHER_LAYOUT,
      ...accessorSections(impact.accessors),
      { header: 'Uses of initargs that would be gone', ...callList(impact.made.unfit) },
      { header: 'Uses of instances that cannot be checked', ...callList(impact.made.unknown) },
      classText(impact),
      !impact.removal && subclassSection(impact),
      recompileText(recompile, limit),
      placeText(impact),
      testSection(impact, testLimit),
      recordedText(impact.recorded, testLimit),
      unloadedText(impact.unloaded, limit),
      impact.unloadedMore === true && PARTIAL_NOTE,
      {
        header: 'Unaffected exports and imports of its name',
        ...callList(impact.removal?.named.export ?? []),
      },
      ...impact.texts,
    ],
    limit,
  );
}

function headline({ name, kind, method, lambdaList, nature, ...impact }: Impact): string {
  if (method !== undefined) return `${name} ${method} [METHOD]`;
  return `${name} [${kind ?? impact.class ?? nature}]${kind ? ` ${lambdaList ?? 'arguments not recorded'}` : ''}`;
}
