// Renders why a name is not what a tool asked for, and which similar names may be meant.

/** Returns a sentence that says that NAME is each of NATURES, not a KIND, or that NAME is not defined as a
 *  KIND. */
export function isNot(
  name: string,
  natures: readonly string[],
  kind: 'function' | 'variable' | 'class',
): string {
  const others = natures.map((nature) => `a ${nature.toLowerCase()}`).join(' and ');
  return others ? `${name} is ${others}, not a ${kind}.` : `${name} is not defined as a ${kind}.`;
}

/** Returns whether one of NATURES is that of a variable, which can be a constant. */
export function isVariable(natures: readonly string[]): boolean {
  return natures.includes('VARIABLE') || natures.includes('CONSTANT VARIABLE');
}

/** Returns the question whether one of the similar names NEAR (nearest first) was meant; false when there is
 *  none. */
export function didYouMean(near: readonly string[] = []): string | false {
  const last = near.at(-1);
  if (last === undefined) return false;
  return `Did you mean ${near.length > 1 ? `${near.slice(0, -1).join(', ')} or ${last}` : last}?`;
}
