/** Decides which top-level forms of a text can have a name, so that only these are read. */

import type { TopLevelForms } from './position.ts';

/** Returns where the forms of FORMS begin that can have NAME, a symbol as texts have it, `SETF NAME` too. Those that write any
 *  symbol with escapes are among them. */
export function formsMentioning(forms: TopLevelForms, name: string): number[] {
  const symbol = name.slice(name.lastIndexOf(' ') + 1);
  // The reader takes some other characters for the same.
  if (!/^[\0-\x7f]+$/.test(symbol)) return [...forms.starts()];
  return forms.starts().filter((start) => {
    const text = forms.source.text.slice(start, forms.end(start));
    return text.toUpperCase().includes(symbol.toUpperCase()) || /[\\|]|[^\0-\x7f]/.test(text);
  });
}
