// What apropos_search and who_calls must answer, from fixtures/oracle.lisp in the same image, and the comparison.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect } from 'vitest';
import type { Answer, Session } from './harness.ts';
import { sharedFolder, sharedSession } from './shared.ts';

/** One search as the tool takes it. */
export interface Search extends Record<string, unknown> {
  pattern: string;
  package?: string;
  type?: string;
  inherited?: boolean;
}

/** A form that gives what SBCL calls its predicate for names to which it keeps no cross references. */
export const WITHOUT_XREFS =
  '(or (find-symbol "XREF-INTERNAL-NAME-P" "SB-C") (find-symbol "INTERNAL-NAME-P" "SB-C"))';

/** Tells whether the SBCL of SESSION keeps cross references to CL. Upstream builds it without. */
export async function keepsReferencesToCl(session: Session): Promise<boolean> {
  return (await session.eval(`(funcall ${WITHOUT_XREFS} 'mapcar)`)) === 'NIL';
}

/** Lines that one call lists: few enough that no answer is cut, however long the names are. */
const PAGE = 300;

export interface Fixture {
  session: Session;
  /** Returns what the tool must list for each of SEARCHES, whole. */
  rows: (searches: Search[]) => Promise<string[][]>;
  /** Returns the callers of the function NAMES (Lisp expressions) that who_calls must list first. */
  callers: (names: string[]) => Promise<string[][]>;
}

/** Returns a session with both fixtures loaded, for the tests of a file. */
export function sharedFixture(): Fixture {
  const session = sharedSession();
  const folder = sharedFolder();
  beforeAll(async () => {
    for (const file of ['app.lisp', 'oracle.lisp']) {
      const { text, isError } = await session.call('load_file', { path: `fixtures/${file}` });
      expect({ text, isError }).toEqual({ text: `Loaded fixtures/${file}`, isError: false });
    }
  });
  const lists = async (forms: string[]): Promise<string[][]> => {
    const file = join(folder.path, 'lists.json');
    const form = `(contract-oracle::write-json-lists ${lispString(file)} (list ${forms.join(' ')}))`;
    // It searches the whole heap, or all symbols, for each of FORMS.
    expect(await session.eval(form, { timeout: 600 })).toBe(String(forms.length));
    return JSON.parse(readFileSync(file, 'utf8')) as string[][];
  };
  return {
    session,
    rows: (searches) => lists(searches.map(searchForm)),
    callers: (names) => lists(names.map((name) => `(contract-oracle::callers ${name})`)),
  };
}

/** Returns the Lisp expression of TEXT, whatever its characters; nothing is interned by it. */
export function lispString(text: string): string {
  const codes = [...text].map((char) => char.codePointAt(0));
  return `(contract-oracle::text ${codes.join(' ')})`;
}

function searchForm({ pattern, package: home, type, inherited }: Search): string {
  const options = [
    home === undefined ? '' : `:package ${lispString(home)}`,
    type === undefined ? '' : `:type ${lispString(type.toUpperCase())}`,
    inherited === true ? ':inherited t' : '',
  ];
  return `(contract-oracle::rows ${lispString(pattern)} ${options.join(' ')})`;
}

/** Returns the contract's text for a search for PATTERN that finds ROWS, of which LIMIT from OFFSET on are shown. */
export function searchText(pattern: string, rows: string[], offset = 0, limit = 200): string {
  const header = `Found ${rows.length} ${rows.length === 1 ? 'symbol' : 'symbols'} matching '${pattern}':\n\n`;
  return header + pageText(rows, offset, limit);
}

/** Returns ROWS from OFFSET on, at most LIMIT, as a list with a last `...` when there are more. */
export function pageText(rows: string[], offset: number, limit: number): string {
  const shown = rows.slice(offset, offset + limit);
  return [...shown, ...(offset + limit < rows.length ? ['...'] : [])].map((row) => `  ${row}`).join('\n');
}

/** Checks, page after page, that the tool answers each of SEARCHES with exactly what the oracle says. */
export async function expectOracle(fixture: Fixture, searches: Search[]): Promise<void> {
  const expected = await fixture.rows(searches);
  for (const [index, search] of searches.entries()) {
    const rows = expected[index] ?? [];
    let offset = 0;
    do {
      const page = { ...search, offset, limit: PAGE };
      const answer = await fixture.session.call('apropos_search', page);
      expect(withoutNote(answer), JSON.stringify(page)).toEqual({
        text: searchText(search.pattern, rows, offset, PAGE),
        notices: [],
        isError: false,
      });
      offset += PAGE;
    } while (offset < rows.length);
  }
}

/** Returns ANSWER without the note about inherited symbols, which has tests of its own. */
function withoutNote(answer: Answer): Answer {
  return {
    ...answer,
    text: answer.text.replace(/Note: \d+ inherited symbols match; inherited: true lists them\.$/, ''),
  };
}
