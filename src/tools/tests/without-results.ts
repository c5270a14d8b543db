// Renders runs in which no test was recognized, because none ran or their framework is unknown.

import type { Reply } from '../../image/wire/call.ts';
import { type Ending, wholeText } from '../../image/wire/endings.ts';
import type { TestLookup, TestRunData } from '../../image/wire/operations.ts';
import { nearest } from '../../kernel/nearest.ts';
import { joinSections } from '../../kernel/reply.ts';
import type { Result } from '../../kernel/tool.ts';
import { unqualifiedName } from '../../source/qualified.ts';
import { conditionText, endingText, foldedLines } from '../endings.ts';
import { missingText } from '../execution/load-system.ts';
import type { Places } from '../places.ts';
import { goneLine, unrecordedLine } from './run-text.ts';

const UNMEASURED = {
  missing:
    'Coverage cannot be measured: this SBCL comes without its library sb-cover. Install that, or run without coverage.',
  busy: 'Coverage cannot be measured while another run measures it. Wait for that run, or run without coverage.',
};

/** Returns the result when the name of a test is unknown or ambiguous, or when coverage cannot be measured. */
export function nameResult({ missing, several, unmeasured, known = [] }: TestLookup): Result {
  if (unmeasured !== undefined)
    return { data: { unmeasured }, text: `${UNMEASURED[unmeasured]} Nothing ran.`, failed: true };
  const names = [...new Set(known.flatMap((name) => [unqualifiedName(name), name]))];
  const near = nearest(
    missing?.toLowerCase() ?? '',
    names.map((name) => name.toLowerCase()),
  );
  const similar = names.filter((name) => near.includes(name.toLowerCase()));
  const hint = similar.length > 0 ? ` Similar names: ${similar.join(', ')}.` : '';
  const text =
    missing === undefined
      ? `${several} names several tests: ${known.join(', ')}. Nothing ran; give one of these.`
      : `No framework has a test or suite ${missing}. Nothing ran.${hint}`;
  return { data: { missing, several, known }, text, failed: true };
}

const IF_ADDED = 'If tests were added since, call run_tests with coverage: true first.';

/** Returns the result when none of the tests that could run reached the definition NAME. GONE are tests that no longer
 * exist. UNRECORDED are tests whose coverage is not recorded. */
export function nothingReached(name: string, gone: readonly string[], unrecorded: readonly string[]): Result {
  const lines = [
    gone.length > 0
      ? `The tests that reached ${name} when coverage was last recorded no longer exist: ${gone.join(', ')}. Nothing ran. ${IF_ADDED}`
      : `No test reached ${name} when coverage was last recorded, so nothing ran. ${IF_ADDED}`,
    unrecordedLine(unrecorded),
  ];
  return {
    data: { verdict: 'none', gone, unrecorded },
    text: lines.filter((line) => line !== '').join('\n'),
    failed: true,
  };
}

/** Returns sentences about required systems that ASDF did not find. */
export function needsText(needs: NonNullable<TestRunData['needs']>, places: Places): string {
  return needs.map((each) => missingText(each, places, 'tested')).join(' ');
}

/** Returns sentences about the test operations of SYSTEMS, which ended without an error and ran no test of a known
 * framework. */
function endedText(systems: readonly string[]): string {
  const [operations, them] = systems.length === 1 ? ['operation', 'it'] : ['operations', 'them'];
  return `The test ${operations} of ${systems.join(', ')} ended without an error. live-lisp recognized no tests in ${them}, so none are counted, and a failure that was only printed or returned is not detected.`;
}

/** Returns sentences about a test operation that did not end normally, and ended before a test of a known framework
 * ran. WHAT names the tested systems, and ENDING says how the operation ended. */
function endedEarlyText(what: string, ending: Ending): string {
  return ending.kind === 'condition'
    ? `The tests of ${what} failed: the test operation signalled this condition. live-lisp had recognized no tests, so none are counted.`
    : `The tests of ${what} ended early, before live-lisp recognized any.`;
}

/** Maximum number of characters that are shown of the output, from its end, where frameworks print totals. */
const OUTPUT_LIMIT = 1000;

/** Returns OUTPUT with shorter runs of spaces and punctuation. Frameworks print such runs as columns, as rulers, or as
 * a dot for each test that passed. */
function plainly(output: string): string {
  const plain = output
    .trim()
    .replace(/ {3,}/g, '  ')
    .replace(/([^\w\s])\1{3,}/g, '$1$1$1');
  return foldedLines(plain);
}

/** Returns the result of a run in which no test was recognized. WHAT names the systems. LOAD_NOTES is the text about
 * the loads before the run. */
export function noTestsResult(
  what: string,
  { data, ending, output }: Reply<'test-run'>,
  loadNotes: string,
  places: Places,
): Result {
  const written = output === undefined ? '' : plainly(wholeText(output));
  const { packages = [], gone = [], needs = [], unloaded = [], unseen = [] } = data;
  if (needs.length > 0 && ending.kind === 'done') {
    const text = joinSections([`No tests ran. ${needsText(needs, places)}`, loadNotes]);
    return { data: { verdict: 'none', needs, ending }, text, failed: true };
  }
  const isNone = written === '' && unseen.length === 0 && ending.kind === 'done';
  const verdict = ending.kind === 'condition' ? 'fail' : isNone ? 'none' : 'unknown';
  const known = packages.map(({ package: home, tests }) => `${home} (${tests})`).join(', ');
  const inPackages = known && ` Packages with tests: ${known}; give 'package' or 'test'.`;
  const [tester] = unloaded;
  const elsewhere =
    tester &&
    ` ${unloaded.length === 1 ? `System ${tester} depends on it and is` : `Systems ${unloaded.join(', ')} depend on it and are`} not loaded. If the tests are there, call run_tests with system: ${JSON.stringify(tester)}.`;
  const text = joinSections([
    gone.length > 0
      ? `No tests ran. ${goneLine(gone)}`
      : verdict === 'none'
        ? `No tests ran: testing ${what} runs none and prints nothing.${elsewhere ?? ''}${inPackages}`
        : ending.kind !== 'done'
          ? `${endedEarlyText(what, ending)}${inPackages}`
          : unseen.length > 0
            ? `${endedText(unseen)}${elsewhere ?? ''}${inPackages}`
            : `Verdict unknown: testing ${what} ended normally, but live-lisp recognized no tests.`,
    ending.kind === 'condition' ? conditionText(ending.condition, places) : endingText(ending, places),
    written &&
      `Its output ends:\n${written.length > OUTPUT_LIMIT ? `... ${written.slice(-OUTPUT_LIMIT)}` : written}`,
    loadNotes,
  ]);
  return { data: { verdict, unseen, ending }, text, failed: isNone || ending.kind !== 'done' };
}
