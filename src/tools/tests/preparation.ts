// Chooses the systems whose tests run, and loads their changed files.

import type { Ending } from '../../image/wire/endings.ts';
import { joinSections } from '../../kernel/reply.ts';
import type { CallContext, Result } from '../../kernel/tool.ts';
import { agreementSection, displacedSection } from '../agreement.ts';
import { callOptions } from '../calling.ts';
import { holdingSection } from '../debug/held-text.ts';
import { conditionText, endingText } from '../endings.ts';
import { goneText, missingText, systemResult } from '../execution/load-system.ts';
import { twinsText } from '../execution/load-text.ts';
import type { Places } from '../places.ts';
import { groupedWarnings } from '../remarks.ts';
import { sameText } from '../shown-warnings.ts';
import type { TestDependencies } from './dependencies.ts';

/** The result of the preparation: `systems` are loaded and will be tested, `loadNotes` is the text about their loads.
 * If the tests cannot run, `failed` is the result of the call. */
export type Preparation = { systems: string[]; loadNotes: string } | { failed: Result };

/** What to load and then test. `restarts` are the names of restarts to invoke for errors during the loads. */
interface Wanted {
  /** The system to test; absent for all systems of the workspace that have tests. */
  system?: string | undefined;
  /** True to load only systems that the image has loaded before. Used only without `system`. */
  known?: boolean;
  /** True when the same call has made edits. The answer then mentions a load even if it gave no warnings. */
  edited?: boolean;
  restarts?: readonly string[] | undefined;
}

/** Loads what has changed in the wanted system and in its tests. Without a wanted system, does this for all systems of
 * the workspace that have tests. */
export async function prepare(
  dependencies: TestDependencies,
  { system, known = false, edited = false, restarts }: Wanted,
  context: CallContext,
): Promise<Preparation> {
  const { image, places } = dependencies;
  const about = system === undefined ? { root: `${places.root}/`, known } : { system };
  const { ending, data } = await image.call('test-plan', about, callOptions(context));
  if (ending.kind !== 'done') return { failed: notPlanned(ending, places) };
  const { systems = [], loads = [], unread = [], missing, ...lack } = data.value ?? {};
  if (missing !== undefined)
    return {
      failed: systemResult({ ending, data: { value: { ...lack, missing } } }, missing, places, context),
    };
  const loadNotes: string[] = known ? [] : unread.map((each) => missingText(each, places, 'tested'));
  if (systems.length === 0 && loadNotes.length > 0) {
    return { failed: { data: { unread }, text: `No tests ran. ${loadNotes.join(' ')}`, failed: true } };
  }
  let lacking: Result | undefined;
  let warned = false;
  for (const { name, force = false } of loads) {
    const loaded = await load(dependencies, { name, force, ...(restarts && { restarts }) }, context);
    if (loaded.failed && !loaded.lacks) return { failed: loaded.failed };
    // A system that this one needs is missing, so no tests will run. The other systems of `loads` are still loaded.
    lacking ??= loaded.failed;
    if (loaded.loadNotes !== '') loadNotes.push(loaded.loadNotes);
    warned ||= loaded.warned;
  }
  if (edited && loads.length > 0 && !warned && !lacking) loadNotes.push('No warnings.');
  return lacking
    ? { failed: { ...lacking, text: joinSections([lacking.text, ...loadNotes]) } }
    : { systems, loadNotes: joinSections(loadNotes) };
}

function notPlanned(ending: Ending, places: Places): Result {
  const why =
    ending.kind === 'condition' ? conditionText(ending.condition, places) : endingText(ending, places);
  return {
    data: { ending },
    text: `The systems to test could not be determined.\n\n${why}`,
    failed: true,
  };
}

/** Loads a system. `loadNotes` is the text about the load, and `warned` is true when it gave warnings. If the load
 * failed, `failed` is the result of the call. `lacks` is true when ASDF did not find a system that is required. */
async function load(
  { image, places, shownWarnings, loadLimit }: TestDependencies,
  asked: { name: string; force: boolean; restarts?: readonly string[] },
  context: CallContext,
): Promise<{ loadNotes: string; warned: boolean; failed?: Result; lacks?: boolean }> {
  const reply = await image.call('load-system', asked, { ...callOptions(context), ...loadLimit });
  const { name } = asked;
  const lacks = reply.data.value?.missing !== undefined;
  if (reply.ending.kind !== 'done' || lacks) {
    const result = systemResult(reply, name, places, context);
    return {
      loadNotes: '',
      warned: true,
      failed: { ...result, text: `No tests ran. ${result.text}` },
      lacks,
    };
  }
  const { data } = reply;
  // The first compilation of a library can give warnings. They do not concern this program.
  const warnings = (data.warnings ?? []).filter(({ file = '' }) => places.isOwn(file));
  const fresh = shownWarnings.keep(warnings);
  // DEFVAR does not set a variable that has a value. The text of the run lists such variables, so this text does not.
  const agreement = { ...data.value?.agreement, unset: [], unsetTotal: 0 };
  return {
    warned: warnings.length > 0,
    loadNotes: joinSections([
      holdingSection(data),
      groupedWarnings({ warnings: fresh }, places),
      sameText(warnings.length - fresh.length),
      goneText(data, places),
      twinsText(data.value?.twins, places, context.earlierAnswers),
      displacedSection(data, places),
      agreementSection(agreement, places, context.earlierAnswers),
    ]),
  };
}

/** Returns the result for the case that no system of the workspace has tests. */
export function nothingToRun(): Result {
  return {
    data: {},
    text: "No system of the workspace defines a test operation, so there is nothing to run. Give parameter 'system', 'package' or 'test'. A system defines one with :perform (test-op ...) or :in-order-to ((test-op ...)).",
    failed: true,
    unfound: true,
  };
}
