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

A walker of its own reads the sources of these libraries, expands and walks each form, and lists who calls what. It is
\`tests/callers/oracle.lisp\`, shares nothing with live-lisp, and says in its first lines what it cannot know. \`${COMMAND}\`
holds the answers of \`who_calls\` against it. First stands how many of the true callers are told, then how many of those
told are true. A site that is not certain is marked in the answer, and counts apart.

${ours}

Others were asked about a sample of the same functions, in an image of their own. \`sb-introspect\` tells what SBCL's cross
references have, and so did \`who_calls\` at first. They tell only callers with a name.

${theirs}

## The places of lists

SBCL says where a call or a frame is by the number of a list. \`tests/source/recorded.long.ts\` holds the place that an image
has for each numbered list of 20 libraries against SBCL's own numbers of these lists: in files that it compiled, and in
files that came from a cache and were read again. A place that cannot be known is said to be within its form. The newer
SBCLs number more lists: those that are quoted, or behind a comma.

${placesTable(places)}
`;
}

await measuredPage('docs/develop/callers.md', () => page(resultIn(RESULT), resultIn(PLACES)));
