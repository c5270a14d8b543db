// Renders the kind of definition that a name has in place of the kind that a tool needs, and suggests similar
// names.

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

/** Returns whether one of NATURES is that of a variable, which can be a constant or a symbol macro. */
export function isVariable(natures: readonly string[]): boolean {
  return ['VARIABLE', 'CONSTANT VARIABLE', 'SYMBOL MACRO'].some((nature) => natures.includes(nature));
}

/** Returns whether one of NATURES is that of a function, which can be generic, or of a macro. */
export function isFunction(natures: readonly string[]): boolean {
  return ['FUNCTION', 'GENERIC-FUNCTION', 'MACRO'].some((nature) => natures.includes(nature));
}

/** Returns a sentence on the call that lists the users of NAME, which is each of NATURES; empty without one. */
export function usersAdvice(name: string, natures: readonly string[]): string {
  if (isFunction(natures)) return 'who_calls lists what calls it.';
  if (natures.includes('CLASS') || natures.includes('TYPE'))
    return 'impact_of_change lists what depends on it.';
  return natures.includes('SETF EXPANDER') ? `who_calls of (setf ${name}) lists what uses it.` : '';
}

/** Returns the question whether the caller meant one of the similar names NEAR (nearest first); false when
 *  there is none. */
export function didYouMean(near: readonly string[] = []): string | false {
  const last = near.at(-1);
  if (last === undefined) return false;
  return `Did you mean ${near.length > 1 ? `${near.slice(0, -1).join(', ')} or ${last}` : last}?`;
}
