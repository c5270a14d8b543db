// Decides how names read: of setf functions, of what is something else than was asked for, and those that are near.

/** Returns the sentence that NAME, which has NATURES, is no KIND: what it is, or that it is not defined. */
export function isNot(
  name: string,
  natures: readonly string[],
  kind: 'function' | 'variable' | 'class',
): string {
  const others = natures.map((nature) => `a ${nature.toLowerCase()}`).join(' and ');
  return others ? `${name} is ${others}, not a ${kind}.` : `${name} is not defined as a ${kind}.`;
}

/** Returns the question whether one of the names NEAR was meant, the nearest first, or false without any. */
export function didYouMean(near: readonly string[] = []): string | false {
  const last = near.at(-1);
  if (last === undefined) return false;
  return `Did you mean ${near.length > 1 ? `${near.slice(0, -1).join(', ')} or ${last}` : last}?`;
}
