// Shows the last runs of tests in the session, and the results that the failed tests had in each run.

import { clock, duration, element, table } from './dom.ts';
import { watchObserved } from './observed.ts';

/** The last runs of tests. The oldest comes first. */
interface History {
  runs: { time: string; what: string; milliseconds: number; passed: number; failed: number }[];
  /** The tests that failed. `passed` has a member for each run, which is null when the test did not run. */
  failing: { test: string; passed: (boolean | null)[] }[];
}

const NONE = 'This session has run no tests. The tool run_tests runs them.';

/** Shows the runs of tests when the human asks for them. */
export function watchTests(): void {
  watchObserved('tests', NONE, ({ tests }: { tests: History }) => {
    const { length } = tests.runs;
    if (length === 0) return undefined;
    return { heading: `${length} ${length === 1 ? 'run' : 'runs'} of tests`, elements: tables(tests) };
  });
}

/** Returns two tables, of the runs and of the failed tests. Both show the newest run first. */
function tables({ runs, failing }: History): HTMLElement[] {
  const times = runs.map(({ time }) => clock(new Date(time))).reverse();
  const rows = runs.reverse().map(({ what, passed, failed, milliseconds }, index) => {
    return [times[index], element('bdi', {}, what), passed, failed, duration(milliseconds)];
  });
  const history = failing.map(({ test, passed }) => {
    return [element('bdi', {}, test), ...passed.map(resultElement).reverse()];
  });
  const shown = [table('Runs', ['Time', 'Tests', 'Passed', 'Failed', 'Took'], rows)];
  if (history.length > 0) shown.push(table('Tests that failed', ['Test', ...times], history));
  return shown;
}

function resultElement(passed: boolean | null): HTMLElement {
  if (passed === null) return element('span', {}, 'not run');
  return element('span', { class: passed ? '' : 'problem' }, passed ? 'passed' : 'failed');
}
