// Decides what the samples of a run say: n, p50, p99, the ratio to the baseline, and whether a goal is met.

/** @typedef {'ms' | 'MB' | 'bytes' | 'tokens'} Unit */

/**
 * @typedef {object} Goal An upper bound for the ratio to the baseline, or for the median itself.
 * @property {'ratio' | 'p50'} of
 * @property {number} atMost
 * @property {string} [missed] why it is not met, where that is known
 */

/**
 * @typedef {object} Measure What is measured, and against what.
 * @property {string} id
 * @property {string} title
 * @property {Unit} unit
 * @property {string} [baseline] the id of another measure of the same section
 * @property {Goal} [goal]
 */

/**
 * @typedef {object} Figure A measure with what the run found.
 * @property {string} id
 * @property {string} title
 * @property {Unit} unit
 * @property {number} n
 * @property {number} p50
 * @property {number} p99
 * @property {string} [baseline] the title of the baseline
 * @property {number} [ratio]
 * @property {Goal} [goal]
 * @property {boolean} [met]
 */

/**
 * @typedef {object} Section Figures that belong together.
 * @property {string} title
 * @property {string} note how they were measured
 * @property {Figure[]} figures
 * @property {number} [drift] by which part a baseline moved between the halves of the run, at most
 * @property {Table} [shares] what is no quantity with a median
 */

/**
 * @typedef {object} Table
 * @property {string[]} head
 * @property {string[][]} rows
 */

/**
 * Returns the smallest sample that is not below the FRACTION of all.
 * @param {readonly number[]} samples
 * @param {number} fraction
 */
export function quantile(samples, fraction) {
  const sorted = samples.toSorted((one, other) => one - other);
  return sorted[Math.max(0, Math.ceil(fraction * sorted.length) - 1)] ?? Number.NaN;
}

/**
 * Returns the figures of MEASURES, whose SAMPLES are given by id.
 * @param {Measure[]} measures
 * @param {Record<string, number[]>} samples
 * @returns {Figure[]}
 */
export function summarize(measures, samples) {
  const of = (/** @type {string} */ id, /** @type {number} */ fraction) =>
    quantile(samples[id] ?? [], fraction);
  return measures.map(({ baseline, goal, ...measure }) => {
    const own = samples[measure.id] ?? [];
    const p50 = quantile(own, 0.5);
    const ratio = baseline === undefined ? undefined : p50 / of(baseline, 0.5);
    return {
      ...measure,
      n: own.length,
      p50,
      p99: quantile(own, 0.99),
      ...(baseline !== undefined && { baseline: titleOf(measures, baseline), ratio }),
      ...(goal && { goal, met: (goal.of === 'ratio' ? (ratio ?? Number.NaN) : p50) <= goal.atMost }),
    };
  });
}

/**
 * Returns the figures of MEASURES as `summarize` does, and how far their baselines moved. The medians of both halves of
 * the SAMPLES of one can differ only because the machine was not steady.
 * @param {Measure[]} measures
 * @param {Record<string, number[]>} samples
 * @returns {{ figures: Figure[], drift: number }}
 */
export function compare(measures, samples) {
  const baselines = new Set(measures.flatMap(({ baseline }) => (baseline === undefined ? [] : [baseline])));
  const drifts = [...baselines].map((id) => driftOf(samples[id] ?? []));
  return { figures: summarize(measures, samples), drift: Math.max(0, ...drifts) };
}

/** @param {number[]} samples */
function driftOf(samples) {
  const half = Math.floor(samples.length / 2);
  if (half === 0) return 0;
  const early = quantile(samples.slice(0, half), 0.5);
  const late = quantile(samples.slice(-half), 0.5);
  return Math.abs(late - early) / Math.min(early, late);
}

/**
 * Holds each size and share of SECTIONS that has a goal against FACTOR times that. Times are not held: what they are says as
 * much of the machine and its other work as of the program. Returns how many were held, and a line for each that is over.
 * @param {Section[]} sections
 * @param {number} factor
 */
export function holdToGoals(sections, factor) {
  const held = sections.flatMap(({ figures }) =>
    figures.flatMap(({ title, unit, goal, p50, ratio = Number.NaN }) =>
      goal === undefined || unit === 'ms' ? [] : { title, goal, value: goal.of === 'ratio' ? ratio : p50 },
    ),
  );
  const over = held.filter(({ goal, value }) => !(value <= factor * goal.atMost));
  return {
    goals: held.length,
    over: over.map(
      ({ title, goal, value }) =>
        `${title}: ${value.toPrecision(3)}, over ${factor} times its goal of ${goal.atMost}.`,
    ),
  };
}

/**
 * @param {Measure[]} measures
 * @param {string} id
 */
function titleOf(measures, id) {
  const measure = measures.find((each) => each.id === id);
  if (measure === undefined) throw new Error(`There is no baseline ${id} in its section.`);
  return measure.title;
}
