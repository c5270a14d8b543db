// Decides in which order contestants run: one after the other in every round, and each second round backwards. So a
// noisy spell of the machine meets all of them.

/**
 * @typedef {() => Promise<Record<string, number[]>>} Turn
 *   What one contestant does in one round: samples by the id of their figure.
 */

/**
 * Runs TURNS in ROUNDS rounds after one that is not counted, and returns all samples by id.
 * @param {number} rounds
 * @param {Turn[]} turns
 */
export async function runRounds(rounds, turns) {
  /** @type {Record<string, number[]>} */
  const samples = {};
  for (let round = 0; round <= rounds; round++) {
    for (const turn of round % 2 === 0 ? turns : turns.toReversed()) {
      for (const [id, values] of Object.entries(await turn())) {
        if (round === 0) samples[id] ??= [];
        else samples[id]?.push(...values);
      }
    }
  }
  return samples;
}

/**
 * Calls FUNCTION COUNT times, one after the other, and returns the milliseconds of each.
 * @param {number} count
 * @param {() => Promise<unknown>} call
 */
export async function timeCalls(count, call) {
  const samples = [];
  for (let index = 0; index < count; index++) {
    const began = performance.now();
    await call();
    samples.push(performance.now() - began);
  }
  return samples;
}
