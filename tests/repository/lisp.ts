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

/** Returns TEXT with spaces for its comments, strings and characters: what is left are symbols, numbers and brackets. */
export function codeOf(text: string): string {
  return text.replaceAll(/;.*|#\|[\s\S]*?\|#|#\\(?:[\w-]+|.)|"(?:\\[\s\S]|[^"\\])*"/g, (found) =>
    found.replaceAll(/[^\n]/g, ' '),
  );
}

/** Returns the name in ELEMENT of a definition, which can be (setf NAME) or (NAME options). */
function nameIn(element = ''): string {
  return /^\((?:setf )?([^\s()]+)/.exec(element)?.[1] ?? element;
}

/** Returns what the structure FORM defines besides its name. */
function structureNames({ elements }: Form): string[] {
  const [, head = '', ...slots] = elements;
  const name = nameIn(head);
  const constructors = [...head.matchAll(/:constructor ([^\s()]+)/g)].map(([, made = '']) => made);
  const accessors = slots.filter((slot) => !slot.startsWith('"')).map((slot) => `${name}-${nameIn(slot)}`);
  return [`${name}-p`, ...(constructors.length > 0 ? constructors : [`make-${name}`]), ...accessors];
}

/** Returns the names of the functions, macros, variables, types and structures that TEXT defines. */
export function definedNames(text: string): Set<string> {
  const names = definitions(text).flatMap((form) => {
    const [operator = '', second] = form.elements;
    if (operator === 'defstruct') return [nameIn(second), ...structureNames(form)];
    if (/^(?:sb-ext:defglobal|def(?:un|macro|var|parameter|constant|type|generic))$/.test(operator))
      return [nameIn(second)];
    if (/^define-(?:internal|late|runtime)/.test(operator)) return [nameIn(second)];
    if (!/^(?:defclass|define-condition)$/.test(operator)) return [];
    const slots = [...form.text.matchAll(/:(?:accessor|reader|writer)\s+([^\s()]+)/g)].map(
      ([, made = '']) => made,
    );
    return [nameIn(second), ...slots];
  });
  return new Set(names);
}

/** Returns the names that TEXT gives to parameters of its definitions and to slots of its structures. */
export function boundNames(text: string): Set<string> {
  const names = definitions(text).flatMap(({ elements: [operator = '', , third = '', ...more] }) => {
    if (operator === 'defstruct') return [third, ...more].map(nameIn);
    return /^def/.test(operator) ? [...third.matchAll(/[^\s()]+/g)].map(([name]) => name) : [];
  });
  return new Set(names);
}

/** Returns the names in TEXT that stand where a function, a quoted name or a special variable does. */
export function usedNames(text: string): Set<string> {
  // The names of members are no uses.
  const code = codeOf(text).replaceAll(/^\(define-(?:shape|wire-type) .*\n(?:[ )].*\n|\n)*/gm, '');
  const operators = [...code.matchAll(/(?:\(|#'|')([a-z0-9%-][^\s()'`,]*)/gi)].map(([, name = '']) => name);
  const variables = [...code.matchAll(/(?<![^\s()'`,@])([*+][^\s()'`,]+[*+])/g)].map(([, name = '']) => name);
  return new Set([...operators, ...variables]);
}
