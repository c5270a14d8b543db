// Writes docs/develop/callers.md from what was measured of who_calls, and of the places of lists. With --check it fails instead when that is stale.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { measuredPage, table } from './measured-page.mjs';
import { PROJECT } from './session.mjs';

const RESULT = join(PROJECT, 'tests', 'callers', 'result.json');
const PLACES = join(PROJECT, 'tests', 'source', 'result.json');
const COMMAND = 'make check-long';

/** Who was asked about a sample, and how that reads. */
const REPORTED_BY = {
  'live-lisp': '`who_calls`',
  'sb-introspect': '`sb-introspect:who-calls`',
  swank: "Swank's `list-callers`",
};

function resultIn(file) {
  return JSON.parse(readFileSync(file, 'utf8'));
}

/** Returns how many of TOTAL are PART, as part and rate. */
function share(part, total) {
  return total === 0 ? '–' : `${part} of ${total} (${(part / total).toFixed(3)})`;
}

function scoreText(score) {
  if (score === undefined) return '–';
  const { there, found, given, right } = score;
  return `${share(found, there)}; ${share(right, given)}`;
}

function total(scores) {
  const sum = { there: 0, found: 0, given: 0, right: 0 };
  for (const score of scores) for (const key of Object.keys(sum)) sum[key] += score?.[key] ?? 0;
  return sum;
}

/** Returns a row that says the same of all ROWS. */
function allOf(rows) {
  const count = (get) => rows.reduce((sum, row) => sum + get(row), 0);
  return {
    library: '**all**',
    callees: count(({ callees }) => callees),
    named: total(rows.map(({ named }) => named)),
    places: total(rows.map(({ places }) => places)),
    falseNone: count(({ falseNone }) => falseNone),
    sites: {
      right: count(({ sites }) => sites.right),
      wrong: count(({ sites }) => sites.wrong),
      marked: count(({ sites }) => sites.marked),
    },
    others: Object.fromEntries(
      Object.keys(REPORTED_BY).map((name) => [name, total(rows.map(({ others }) => others[name]))]),
    ),
  };
}

/** Returns the table of the places of lists that ROWS have, one for each SBCL and way into the image. */
function placesTable({ rows }) {
  return table(
    ['SBCL', 'way into the image', 'exact', 'within the form', 'wrong'],
    rows.map(({ sbcl, way, reported, exact, within, wrong }) => [
      sbcl.replace('SBCL ', ''),
      way,
      share(exact, reported),
      within,
      wrong,
    ]),
  );
}

function page({ rows }, places) {
  const all = [...rows, allOf(rows)];
  const ours = table(
    [
      'library',
      'functions',
      'callers with a name',
      'other places',
      'false `No callers`',
      'sites on the right line',
      'marked',
    ],
    all.map(({ library, callees, named, places, falseNone, sites: { right, wrong, marked } }) => [
      library,
      callees,
      scoreText(named),
      scoreText(places),
      falseNone,
      share(right, right + wrong),
      marked,
    ]),
  );
  const theirs = table(
    ['library', ...Object.values(REPORTED_BY)],
    all
      .filter(({ others }) => others['live-lisp']?.there > 0)
      .map(({ library, others }) => [
        library,
        ...Object.keys(REPORTED_BY).map((name) => scoreText(others[name])),
      ]),
  );
  return `<!-- Written by scripts/callers.mjs; do not edit. -->

# Who calls, against the sources

\`${COMMAND}\` compares the answers of \`who_calls\` with the callers that an independent code walker finds. This walker,
\`tests/callers/oracle.lisp\`, reads the sources of these libraries, expands and walks each form, and lists who calls what.
It shares no code with live-lisp; its first lines list what it cannot know.

Each cell gives two shares: first how many of the true callers the answer names (recall), then how many of the named callers
are true (precision). \`who_calls\` marks a site of which it is not certain; the last column counts these.

${ours}

Two other tools were asked about a sample of the same functions, each in an image of its own. \`sb-introspect\` returns SBCL's
cross references, as the first version of \`who_calls\` did. Both tools return only callers with a name.

${theirs}

## The places of lists

SBCL gives the place of a call or a frame as the number of a list in its top-level form. \`tests/source/recorded.long.ts\`
checks the places that an image has recorded for the numbered lists of 20 libraries against SBCL's own numbers. It checks
files that the image compiled, and files that were loaded from a cache of fasls and then read again. Where the place cannot be
known, the answer gives only the top-level form ("within the form"). Newer SBCLs number more lists: those that are quoted or
after a comma.

${placesTable(places)}
`;
}

await measuredPage('docs/develop/callers.md', () => page(resultIn(RESULT), resultIn(PLACES)));
