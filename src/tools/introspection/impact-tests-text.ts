// Renders the tests that a change of a definition affects, and the files that were not checked.

import { fewOf, listText } from '../../kernel/reply.ts';
import type { NamingFile } from './impact-context.ts';
import { type LocatedUse, locatedText } from './impact-sections.ts';

/** The tests that a change affects, and files that are not loaded. */
export interface TestImpact {
  testSystems?: number;
  testsMore?: number;
  tests: LocatedUse[];
  testCount: number;
  /** Tests that reached the definition in the last run with coverage; undefined when no run measured this. */
  recorded?: string[] | undefined;
  unloaded: NamingFile[];
  /** True when the workspace has more files than were searched for `unloaded`. */
  unloadedMore?: boolean;
  /** Test files that use the name of the definition, when no test is known to reach it. */
  testsNaming: NamingFile[];
  /** Test files that are not loaded, when no test is known to reach the definition. */
  unloadedTests: string[];
}

/** Returns the text about the tests that reach the definition or contain its name, with at most LIMIT of each. */
export function testSection(impact: TestImpact & { kind?: string }, limit: number): string | false {
  const { kind, testSystems = 0, tests, testCount, testsMore } = impact;
  const unloaded = impact.unloaded.filter(({ unloadedTests }) => unloadedTests);
  const unchecked =
    unloaded.length > 0 &&
    `Tests that name it, not checked because they are not loaded: ${filesText(unloaded, limit)}`;
  if (kind === undefined) return unchecked;
  if (testSystems === 0)
    return 'Tests: unknown, because ASDF has registered no system that tests another (test-op).';
  const more = testsMore
    ? `\nNote: the search stopped after ${testsMore} functions and forms that reach it, so tests may be missing here. who_calls with parameter 'within' lists its callers in one system.`
    : '';
  if (testCount === 0 && impact.testsNaming.length + unloaded.length > 0) {
    const lines = [
      impact.testsNaming.length > 0 && `Tests that name it: ${filesText(impact.testsNaming, limit)}`,
      unchecked,
    ];
    return `${lines.filter(Boolean).join('\n')}${more}`;
  }
  if (testCount === 0) {
    const { unloadedTests } = impact;
    const subject = impact.unloaded.length + unloadedTests.length > 0 ? 'No loaded test' : 'No test';
    return `${subject} is known to reach it.${unloadedTestsText(unloadedTests, limit)}${more}`;
  }
  const lines = listText(tests.slice(0, limit).map(locatedText), false);
  const remaining = testCount - Math.min(limit, tests.length);
  return `Tests that reach it (${testCount}):\n${lines}${remaining > 0 ? `\n  ... ${remaining} more; limit shows them` : ''}${more}`;
}

/** Returns a line about the tests NAMES, which reached the definition in a run with coverage; false when no run
 * measured this. */
export function recordedText(names: string[] | undefined, limit: number): string | false {
  if (names === undefined) return false;
  if (names.length === 0) return 'No test reached it in the last run with coverage.';
  return `Tests that reached it in a run with coverage (${names.length}): ${fewOf(names, limit)}. To run them, use parameter 'touching' of run_tests.`;
}

/** Returns a line with at most LIMIT files that contain the name of the definition and are not loaded. Leaves out test
 * files. */
export function unloadedText(naming: readonly NamingFile[], limit: number): string | false {
  const files = naming.filter(({ unloadedTests }) => !unloadedTests);
  if (files.length === 0) return false;
  return `Files that name it, not checked because they are not loaded: ${filesText(files, limit)}`;
}

function unloadedTestsText(files: readonly string[], limit: number): string {
  if (files.length === 0) return '';
  const more = files.length > limit ? ` and ${files.length - limit} more` : '';
  return ` Tests in these files, which are not loaded, may reach it: ${files.slice(0, limit).join(', ')}${more}. Load them with load_system, then call again.`;
}

const LINE_LIMIT = 10;

function filesText(files: readonly NamingFile[], limit: number): string {
  const entries = files
    .slice(0, limit)
    .map(({ file, lines }) => `${file}:${lines.slice(0, LINE_LIMIT).join(',')}`);
  const more = files.length > limit ? ` and ${files.length - limit} more files` : '';
  return entries.join('  ') + more;
}
