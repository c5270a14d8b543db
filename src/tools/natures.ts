// Makes the sentences for a name that has no definition of the kind that a tool needs. A nature is a kind of
// definition, as the image names it: FUNCTION, CLASS and so on.

/** Returns a sentence that says that NAME is not a KIND, and what it is. NATURES are the kinds of definitions that NAME
 * has. */
export function isNot(
  name: string,
  natures: readonly string[],
  kind: 'function' | 'variable' | 'class',
): string {
  const others = natures.map((nature) => `a ${nature.toLowerCase()}`).join(' and ');
  return others ? `${name} is ${others}, not a ${kind}.` : `${name} is not defined as a ${kind}.`;
}

/** Returns true when one of NATURES is a variable, a constant or a symbol macro. */
export function isVariable(natures: readonly string[]): boolean {
  return ['VARIABLE', 'CONSTANT VARIABLE', 'SYMBOL MACRO'].some((nature) => natures.includes(nature));
}

/** Returns true when one of NATURES is a function, a generic function or a macro. */
export function isFunction(natures: readonly string[]): boolean {
  return ['FUNCTION', 'GENERIC-FUNCTION', 'MACRO'].some((nature) => natures.includes(nature));
}

/** Returns a sentence that names the tool which lists the users of NAME; '' when there is no such tool. */
export function usersAdvice(name: string, natures: readonly string[]): string {
  if (isFunction(natures)) return 'who_calls lists what calls it.';
  if (natures.includes('CLASS') || natures.includes('TYPE'))
    return 'impact_of_change lists what depends on it.';
  return natures.includes('SETF EXPANDER') ? `who_calls of (setf ${name}) lists what uses it.` : '';
}

/** Returns a question that suggests the names NEAR, of which the first is the most similar; false when there are
 * none. */
export function didYouMean(near: readonly string[] = []): string | false {
  const last = near.at(-1);
  if (last === undefined) return false;
  return `Did you mean ${near.length > 1 ? `${near.slice(0, -1).join(', ')} or ${last}` : last}?`;
}
