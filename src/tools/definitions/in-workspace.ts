// Finds definitions in the files of the workspace that the image does not know: tests, systems, files not loaded.

import { type Budget, budgetOf } from '../../files/budget.ts';
import { filesBelow } from '../../files/walk.ts';
import type { Workspace } from '../../files/workspace.ts';
import { isLispFile } from '../parentheses.ts';
import type { NamedText, Places } from '../places.ts';
import { takingTurns } from '../turns.ts';
import { type DefinitionQuery, prefixOf } from './asked-names.ts';
import { linesText, type ReadOptions, type ReadRow, wantsMethods } from './described.ts';

/** A search may read this many directory entries, for this many milliseconds. */
const ENTRY_LIMIT = 20_000;
const TIME_LIMIT_MS = 10_000;

/** Where to search, and for which package. */
interface WorkspaceSearch {
  workspace: Workspace;
  places: Places;
  /** The package of names without prefix, when the caller gave one. */
  home: string | undefined;
  /** True when a definition by OPERATOR, such as DEFUN, can be the one asked for. */
  canBeOperator: (operator: string) => boolean;
}

/** Returns the definitions of QUERY in the Lisp files of the workspace, filtered by OPTIONS, each with NOTE. COMPLETE
 *  is true when all files were searched. Methods of a generic function come without their text, unless OPTIONS ask for
 *  methods or the search found no other definition. */
export async function workspaceDefinitions(
  { workspace, places, home, canBeOperator }: WorkspaceSearch,
  query: DefinitionQuery,
  options: ReadOptions,
  note: string,
): Promise<{ rows: ReadRow[]; complete: boolean }> {
  const budget = lookupBudget();
  const candidates: NamedText[] = [];
  for await (const path of lispFiles(workspace, places, budget))
    candidates.push(
      ...places.definitionsOf(path, query.symbol).filter(({ operator }) => canBeOperator(operator)),
    );
  const prefix = (prefixOf(query) ?? home)?.toUpperCase();
  const inPackage = candidates.filter((definition) => definition.home.toUpperCase() === prefix);
  const named = inPackage.length > 0 ? inPackage : candidates;
  const isMethod = ({ operator }: NamedText) => operator === 'DEFMETHOD';
  const found = named.filter(
    (definition) =>
      query.methods === undefined || (isMethod(definition) && query.methods.includes(definition.method)),
  );
  const nonMethods = found.filter((definition) => !isMethod(definition));
  const shown = wantsMethods(options) || nonMethods.length === 0 ? found : nonMethods;
  const methods = found.flatMap((definition) =>
    shown.includes(definition) ? [] : { name: definition.head, at: `${definition.file}:${definition.line}` },
  );
  const rows = shown.map(({ file, line, lastLine, text }, index) => ({
    name: query.name,
    at: linesText(file, line, lastLine),
    note,
    text,
    ...(index === 0 && methods.length > 0 && { methods }),
  }));
  return { rows, complete: !budget.exceeded };
}

/** Returns a fresh budget to search the workspace for one name. */
export function lookupBudget(): Budget {
  return budgetOf(ENTRY_LIMIT, TIME_LIMIT_MS);
}

/** Yields the real paths of the Lisp files of WORKSPACE, within BUDGET, each after PLACES has prepared it. */
export async function* lispFiles(
  workspace: Workspace,
  places: Places,
  budget: Budget,
): AsyncGenerator<string> {
  const turn = takingTurns();
  for await (const path of filesBelow(workspace, workspace.rootFolders(), budget)) {
    if (!isLispFile(path)) continue;
    await places.prepare([path]);
    await turn();
    yield path;
  }
}
