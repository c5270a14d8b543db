// Finds those symbols in a LOOP form that are words of LOOP, such as FOR.

import type { Form } from './form.ts';

/** Words that LOOP recognizes by name, in any package. */
const LOOP_WORDS = new Set(
  (
    'ABOVE ACROSS ALWAYS AND APPEND APPENDING AS BEING BELOW BY COLLECT COLLECTING COUNT COUNTING DO DOING DOWNFROM ' +
    'DOWNTO EACH ELSE END EXTERNAL-SYMBOL EXTERNAL-SYMBOLS FINALLY FOR FROM HASH-KEY HASH-KEYS HASH-VALUE HASH-VALUES ' +
    'IF IN INITIALLY INTO IT MAXIMIZE MAXIMIZING MINIMIZE MINIMIZING NAMED NCONC NCONCING NEVER OF OF-TYPE ON ' +
    'PRESENT-SYMBOL PRESENT-SYMBOLS REPEAT RETURN SUM SUMMING SYMBOL SYMBOLS THE THEN THEREIS TO UNLESS UNTIL UPFROM ' +
    'UPTO USING WHEN WHILE WITH'
  ).split(' '),
);

/** Words of LOOP that are always followed by a variable, a type or a form, never by another word. */
const BEFORE_FORMS = new Set(
  (
    'ABOVE ACROSS ALWAYS APPEND APPENDING AS BELOW BY COLLECT COLLECTING COUNT COUNTING DOWNFROM DOWNTO FOR FROM IF IN INTO ' +
    'MAXIMIZE MAXIMIZING MINIMIZE MINIMIZING NAMED NCONC NCONCING NEVER OF OF-TYPE ON REPEAT RETURN SUM SUMMING THEN THEREIS TO ' +
    'UNLESS UNTIL UPFROM UPTO WHEN WHILE WITH'
  ).split(' '),
);

/** Maps a word of LOOP to the parts that a later AND joins: variables, as in (for x in a and y in b), or clauses. */
const JOINED = new Map(
  ['FOR', 'AS', 'WITH', 'IF', 'WHEN', 'UNLESS'].map((word, index) => [
    word,
    index < 3 ? 'variables' : 'clauses',
  ]),
);

const loopWords = new WeakMap<Form, ReadonlySet<Form>>();

/** Returns true when PART is a word of LOOP, such as FOR, not a form or variable that has the same name. */
export function isLoopWord(part: Form): boolean {
  const { parent, symbolName } = part;
  if (!LOOP_WORDS.has(symbolName) || parent?.first?.symbolName !== 'LOOP') return false;
  const words = loopWords.get(parent) ?? wordsOfLoop(parent);
  loopWords.set(parent, words);
  return words.has(part);
}

function wordsOfLoop({ elements }: Form): ReadonlySet<Form> {
  const words = new Set<Form>();
  let joined: string | undefined;
  for (const [index, part] of elements.entries()) {
    const before = elements[index - 1];
    if (before === undefined || !LOOP_WORDS.has(part.symbolName)) continue;
    const isAfterAnd = joined === 'variables' && before.symbolName === 'AND';
    const isForm =
      before.symbolName === '=' || (words.has(before) && (isAfterAnd || BEFORE_FORMS.has(before.symbolName)));
    // IT is always a word: it means the value of the last test.
    if (isForm && part.symbolName !== 'IT') continue;
    words.add(part);
    joined = JOINED.get(part.symbolName) ?? joined;
  }
  return words;
}
