// Decides how it reads that some users of a name could not be known.

/** Returns the notes that say which users of kind WHAT could not be known (C31). */
export function unknownNotes(
  { interpreted, unheard }: { interpreted?: boolean; unheard?: boolean },
  what: string,
): string[] {
  return [
    interpreted && `Note: an interpreter ran code in this image, whose ${what} are not known.`,
    unheard && `Note: ${what} in initial values and top-level forms are not known here.`,
  ].filter((note) => typeof note === 'string');
}
