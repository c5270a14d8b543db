// Numbers at random that are the same in each run.

/** Returns a function of a bound that returns integers below it at random, the same for the same SEED. */
export function randomFrom(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % bound;
  };
}

/** Returns a function that gives numbers below 1 at random, the same ones for SEED. */
export function fractionsFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}
