// Decides what the samples of a run say: n, p50, p99, the ratio to the baseline, and whether a goal is met.

/** @typedef {'ms' | 'MB' | 'bytes' | 'tokens'} Unit */

/**
 * @typedef {object} Goal An upper bound for the ratio to the baseline, or for the median itself.
 * @property {'ratio' | 'p50'} of
 * @property {number} atMost
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
  const medianOf = (/** @type {string} */ id) => quantile(samples[id] ?? [], 0.5);
  return measures.map(({ baseline, goal, ...measure }) => {
    const own = samples[measure.id] ?? [];
    const p50 = quantile(own, 0.5);
    const ratio = baseline === undefined ? undefined : p50 / medianOf(baseline);
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
 * @param {Measure[]} measures
 * @param {string} id
 */
function titleOf(measures, id) {
  const measure = measures.find((each) => each.id === id);
  if (measure === undefined) throw new Error(`There is no baseline ${id} in its section.`);
  return measure.title;
}
