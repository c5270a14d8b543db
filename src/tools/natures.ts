// Decides how names read: of setf functions, and of what stands for something else than what was asked for.

/** Returns the sentence that NAME, which has NATURES, is no KIND: what it is, or that it is not defined. */
export function isNot(
  name: string,
  natures: readonly string[],
  kind: 'function' | 'variable' | 'class',
): string {
  const others = natures.map((nature) => `a ${nature.toLowerCase()}`).join(' and ');
  return others ? `${name} is ${others}, not a ${kind}.` : `${name} is not defined as a ${kind}.`;
}

/** Returns the name of the setf function of the function NAME, as the image writes both. */
export function setfName(name: string): string {
  return name.replace(/::(.*)$/s, '::(SETF $1)');
}
