// Reads Lisp text just far enough to tell its top-level forms and what each begins with.

/** Comments, strings, characters, symbols in bars, brackets, and the rest: atoms and the marks before a list. */
const TOKEN = /;.*|#\|[\s\S]*?\|#|#\\.[\w-]*|"(?:\\[\s\S]|[^"\\])*"|\|[^|]*\||[()]|[^\s()";|]+/g;

export interface Form {
  line: number;
  text: string;
  /** Its elements: the text of each atom and string, `(...)` in full for each list. */
  elements: string[];
}

/** Returns the lists that stand at depth 0 of TEXT, whose first line is FIRST. */
export function topLevelForms(text: string, first = 1): Form[] {
  const forms: Form[] = [];
  let elements: string[] = [];
  const starts: number[] = [];
  for (const match of text.matchAll(TOKEN)) {
    const [token] = match;
    if (/^(?:;|#\||[#'`,@]+$)/.test(token)) continue;
    if (token === '(') {
      starts.push(match.index);
      if (starts.length === 1) elements = [];
    } else if (token === ')') {
      const start = starts.pop() ?? 0;
      const list = text.slice(start, match.index + 1);
      if (starts.length === 1) elements.push(list);
      if (starts.length === 0) {
        forms.push({ line: first + text.slice(0, start).split('\n').length - 1, text: list, elements });
      }
    } else if (starts.length === 1) elements.push(token);
  }
  return forms;
}

/** Returns the top-level forms of TEXT, with those that EVAL-WHEN, PROGN or another wrapper holds. */
export function definitions(text: string, first = 1): Form[] {
  return topLevelForms(text, first).flatMap((form) => {
    if (!/^(?:eval-when|progn|locally|macrolet|let\*?|flet|labels)$/.test(form.elements[0] ?? ''))
      return [form];
    const start = form.text.indexOf('(', 1);
    const before = form.text.slice(0, start).split('\n').length - 1;
    return definitions(form.text.slice(start, -1), form.line + before);
  });
}
