// Decides how characters are shown to people that would hide, reorder or imitate others.

/** Characters that control, are invisible or blank, or are no characters; all but the space. */
const HIDDEN = /(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** Returns TEXT, which may have several lines, with such characters as `<U+202E>`; line ends and tabs stay. */
export function visible(text: string): string {
  return text.replace(HIDDEN, (char) => (char === '\n' || char === '\t' ? char : codeOf(char)));
}

/** Returns TEXT for within a line, with such characters, also line ends, as `<U+000A>`. */
export function visibleLine(text: string): string {
  return text.replace(HIDDEN, codeOf);
}

/** Returns the NAME of a file as visibleLine does, with what imitates another name as codes too. That are letters that look
 *  like Latin ones, marks on letters of such scripts or in stacks, and signs outside of ASCII. */
export function visibleName(name: string): string {
  return visibleLine(name.replace(WORD, imitationsIn).replace(STACKED, codesOf).replace(ODD, imitationOf));
}

const WORD = /[\p{L}\p{M}\p{N}]+/gu;

/** Marks on a letter of a script that has whole letters for them, and from the third on. */
const STACKED =
  /(?<=[\p{ASCII}\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])\p{M}+|(?<=[^\p{M}]\p{M}\p{M})\p{M}+/gu;

/** Signs, phonetic letters, and letters that are another one in a different dress. */
const ODD = /(?!\p{ASCII}|\p{Extended_Pictographic})[\p{P}\p{S}\p{N}\p{Script=Latin}]|(?!\p{ASCII})\p{L}/gu;
const PHONETIC = /[\u0131\u0237\u0250-\u02ff\u1d00-\u1dbf\ua720-\ua7ff\uab30-\uab6f]/u;

/** Scripts some of whose letters look like Latin ones. */
const ALIKE =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Coptic}\p{Script=Lisu}\p{Script=Osage}\p{Script=Deseret}\p{Script=Georgian}]/gu;

/** The letters of the most common of these that do. */
const TWINS = /^[асеорхуѕіјһԁԛԝӏүАВЕКМНОРСТХУЅІЈӀԚԜҮЗбгпькомοανρυικγχτΑΒΕΖΗΙΚΜΝΟΡΤΥΧϲϳօոսհզցյլՕՏԼ\p{N}]+$/u;

/** Returns WORD with its letters as codes that look like Latin ones: beside Latin letters, or when it has no others. */
function imitationsIn(word: string): string {
  return /\p{Script=Latin}/u.test(word) || TWINS.test(word) ? word.replace(ALIKE, codeOf) : word;
}

function imitationOf(char: string): string {
  const plain = char.normalize('NFKC');
  const letter = /\p{L}/u.test(char) && (plain === char || !/^\p{ASCII}+$/u.test(plain));
  return letter && !PHONETIC.test(char) ? char : codeOf(char);
}

function codesOf(chars: string): string {
  return [...chars].map(codeOf).join('');
}

function codeOf(char: string): string {
  const code = (char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return `<U+${code}>`;
}
