// Decides how characters are shown to people that would hide, reorder or imitate others.

/** Characters that control, are invisible or blank, or are no characters; all but the space. */
const HIDDEN = /(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** Returns TEXT, which may have several lines, with such characters as `<U+202E>`; line ends and tabs stay. */
export function visible(text: string): string {
  return text.replace(HIDDEN, (char) => (char === '\n' || char === '\t' ? char : codeOf(char)));
}

/** Returns the NAME of a file, or other text for within a line, with such characters, also line ends, as `<U+000A>`. */
export function visibleName(name: string): string {
  return name.replace(HIDDEN, codeOf);
}

function codeOf(char: string): string {
  const code = (char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return `<U+${code}>`;
}
