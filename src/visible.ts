// Replaces some characters by their codes: those that are hidden, that change the order of text, or that look like
// other characters.

// Compiling a regular expression with Unicode properties takes a tenth of a millisecond. So these are inside of
// functions, where they do not delay the start.

/** Returns TEXT in which SHOW was applied to each hidden character: control characters except line feeds and tabs,
 * invisible and blank characters except the space, and code points that are not characters. SHOW must be a pure
 * function. */
function withHidden(text: string, show: (char: string) => string): string {
  const known = new Map<string, string>();
  const shown = (char: string) => {
    const result = known.get(char) ?? show(char);
    known.set(char, result);
    return result;
  };
  // A text can have very many hidden characters, and each match is slow. So a run of them is replaced at once.
  return text.replace(
    /[[\p{C}\p{Zl}\p{Zp}\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\p{Default_Ignorable_Code_Point}\u2800]--[\t\n]]+/gv,
    (run) => mapRuns(run, shown),
  );
}

function mapRuns(run: string, show: (char: string) => string): string {
  let result = '';
  let [last, count] = ['', 0];
  for (const char of run) {
    if (char !== last) {
      if (count > 0) result += show(last).repeat(count);
      [last, count] = [char, 0];
    }
    count += 1;
  }
  return count > 0 ? result + show(last).repeat(count) : result;
}

/** Returns TEXT with codes such as `<U+202E>` in place of hidden characters. Line feeds and tabs stay. */
export function visible(text: string): string {
  return withHidden(text, codeOf);
}

/** Returns TEXT as a part of one line, with codes such as `<U+000A>` in place of hidden characters and line feeds.
 * Unless KEEPS_TABS is true, tabs are replaced too. */
export function visibleLine(text: string, keepsTabs = false): string {
  return visible(text).replace(keepsTabs ? /\n/g : /[\n\t]/g, codeOf);
}

/** Returns LINE, which must have no hidden characters, in a form that does not affect text beside it. Codes replace
 * combining marks at its beginning, which would be drawn over the text before it. If more than two marks stand in a
 * row, codes replace all but the first two. Right-to-left words are enclosed in isolates, so that they do not change
 * the order of the text beside them. */
export function withIsolates(line: string): string {
  if (/^[ -~\t]*$/.test(line)) return line;
  const stacked = line
    .replace(/^\p{M}+/u, codesOf)
    .replace(/(\p{M}\p{M})(\p{M}+)/gu, (_, kept: string, more: string) => kept + codesOf(more));
  const leftwards =
    /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe\u{10800}-\u{10fff}\u{1e800}-\u{1efff}][\p{M}\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]*/gu;
  return stacked.replace(leftwards, '\u2066$&\u2069');
}

/** Returns the file name NAME like visibleLine, and also replaces characters that could be confused with others:
 * letters that look like Latin letters; combining marks on ASCII, Latin, Greek and Cyrillic letters; all but the first
 * two marks on any letter; signs that are not ASCII; and repeated blanks. */
export function visibleName(name: string): string {
  const words = name.replace(/[\p{L}\p{M}\p{N}]+/gu, imitationsIn);
  return visibleLine(withSigns(withMarks(words))).replace(/(?<= ) +/g, codesOf);
}

/** Returns NAME with codes in place of combining marks on letters of scripts that have precomposed letters. On other
 * letters, codes replace all but the first two marks in a row. */
function withMarks(name: string): string {
  const stacked =
    /(?<=[\p{ASCII}\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])\p{M}+|(?<=[^\p{M}]\p{M}\p{M})\p{M}+/gu;
  return name.replace(stacked, codesOf);
}

/** Returns NAME with codes such as `<U+0251>` in place of letters and signs that a person can confuse with others:
 * signs that are neither ASCII nor emoji, phonetic letters, and variants of ASCII letters, such as full-width
 * letters. */
function withSigns(name: string): string {
  const signs =
    /(?!\p{ASCII}|\p{Extended_Pictographic})[\p{P}\p{S}\p{N}\p{Script=Latin}]|(?!\p{ASCII})\p{L}/gu;
  return name.replace(signs, imitationOf);
}

const PHONETIC = /[\u0131\u0237\u0250-\u02ff\u1d00-\u1dbf\ua720-\ua7ff\uab30-\uab6f]/u;

/** Returns true when LETTER needs no code in a word without Latin letters, because nobody takes a letter of its script
 * for a Latin one. This includes Cyrillic and Greek letters, because `isTwin` finds the words in which all of them look
 * like Latin ones. */
function isDistinct(letter: string): boolean {
  return /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Thai}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Cyrillic}\p{Script=Greek}]/u.test(
    letter,
  );
}

/** Returns true when LETTER is an East Asian character that cannot be confused with a Latin letter beside it. The
 * regular expression excludes characters that look like strokes or like a box. */
function isDistinctAmongLatin(letter: string): boolean {
  return /(?![\u4e00\u4e28\u4e36\u4e3f-\u4e41\u4e85\u53e3\u30ce\u30fc])[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u.test(
    letter,
  );
}

/** Returns true when WORD consists of digits and of Cyrillic or Greek letters that look like Latin letters. */
function isTwin(word: string): boolean {
  return /^[\u0430\u0441\u0435\u043e\u0440\u0445\u0443\u0455\u0456\u0458\u04bb\u0501\u051b\u051d\u04cf\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423\u0425\u0405\u0406\u0408\u04c0\u03b1\u03b9\u03ba\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03f2\u03f3\p{N}]+$/u.test(
    word,
  );
}

/** Returns WORD with codes in place of letters that can be confused with Latin letters. If WORD contains Latin letters,
 * these are all letters of other scripts for which isDistinctAmongLatin returns false. If it contains none, these are
 * the letters for which isDistinct returns false, or all letters if isTwin(WORD). */
function imitationsIn(word: string): string {
  const latin = /[A-Za-z\p{Script=Latin}]/u.test(word);
  const distinct = latin ? isDistinctAmongLatin : isDistinct;
  return word.replace(/(?!\p{Script=Latin})\p{L}/gu, (letter) =>
    distinct(letter) && !isTwin(word) ? letter : codeOf(letter),
  );
}

function imitationOf(char: string): string {
  const plain = char.normalize('NFKC');
  const letter = /\p{L}/u.test(char) && (plain === char || !/^\p{ASCII}+$/u.test(plain));
  return letter && !PHONETIC.test(char) ? char : codeOf(char);
}

/** Returns LINE with codes in place of the words that withIsolates has enclosed in isolates (U+2066 to U+2069). LINE
 * may have been cut since. For clients that do not apply isolates. */
export function withoutIsolates(line: string): string {
  return line.replace(/\u2066([^\u2069]*)\u2069?/gu, (_, word: string) => codesOf(word));
}

function codesOf(chars: string): string {
  return mapRuns(chars, codeOf);
}

function codeOf(char: string): string {
  const code = (char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return `<U+${code}>`;
}
