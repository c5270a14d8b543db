// Finds definitions in files of the workspace that the image has not loaded, such as tests and systems.

import { dirname, relative } from 'node:path';
import { type Budget, budgetOf } from '../../files/budget.ts';
import { filesBelow } from '../../files/walk.ts';
import type { Workspace } from '../../files/workspace.ts';
import { spelled } from '../../source/symbol-text.ts';
import { systemsWith } from '../../source/systems.ts';
import { TopLevelForms } from '../../source/top-level.ts';
import { isLispFile } from '../parentheses.ts';
import type { NamedText, Places } from '../places.ts';
import { takingTurns } from '../turns.ts';
import { type DefinitionQuery, prefixOf } from './asked-names.ts';
import { linesText, type ReadOptions, type ReadRow, wantsMethods } from './described.ts';

/** Maximum number of directory entries to read in a search. */
const ENTRY_LIMIT = 20_000;
const TIME_LIMIT_MS = 10_000;

/** The note of an answer whose search of the workspace exceeded its budget. */
export const PARTIAL_NOTE =
  'Note: not all files of the workspace were searched, because there are too many. search_in_buffer searches more.';

interface WorkspaceSearch {
  workspace: Workspace;
  places: Places;
  /** The package of a name without a prefix; undefined when the caller gave none. */
  home: string | undefined;
  /** Returns true when OPERATOR, such as DEFUN, can make the requested definition. */
  canBeOperator: (operator: string) => boolean;
}

/** Returns the definitions that QUERY names in the Lisp files of the workspace. `complete` is true when all files were
 * searched. NOTE is a text for the reader, which each row gets. Methods are returned without their text, unless OPTIONS
 * request them or there are no other definitions. */
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
  const asked = prefixOf(query) ?? home;
  const inPackage = ofPackage(candidates, asked, (definition) => definition.home);
  const isElsewhere = asked !== undefined && inPackage.length === 0;
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
  const rows = shown.map(({ file, line, lastLine, text, home: actual }, index) => ({
    name: query.name,
    at: linesText(file, line, lastLine),
    note: isElsewhere ? `${note}, in package ${spelled(actual, 'a')}` : note,
    text,
    ...(index === 0 && methods.length > 0 && { methods }),
  }));
  return { rows, complete: !budget.exceeded };
}

/** Returns those of FOUND whose package is PACKAGE_NAME. HOME_OF returns the package of one of FOUND. When no package
 * has exactly this name, case is ignored. Returns [] when PACKAGE_NAME is undefined. */
export function ofPackage<Found>(
  found: readonly Found[],
  packageName: string | undefined,
  homeOf: (each: Found) => string,
): Found[] {
  if (packageName === undefined) return [];
  const exact = found.filter((each) => homeOf(each) === packageName);
  const upper = packageName.toUpperCase();
  return exact.length > 0 ? exact : found.filter((each) => homeOf(each).toUpperCase() === upper);
}

/** Returns the names of the systems in the workspace that contain FILE, a real path. */
export async function systemsOf(
  file: string,
  { workspace, places }: Pick<WorkspaceSearch, 'workspace' | 'places'>,
): Promise<string[]> {
  const systems = new Set<string>();
  for await (const path of filesBelow(workspace, workspace.rootFolders(), lookupBudget())) {
    if (!path.endsWith('.asd')) continue;
    await places.prepare([path]);
    const source = places.sourceText(path);
    if (source === undefined) continue;
    const forms = new TopLevelForms(source, places.features);
    for (const name of systemsWith(forms, relative(dirname(path), file))) systems.add(name);
  }
  return [...systems];
}

/** Returns a new budget for a search for one name. */
export function lookupBudget(): Budget {
  return budgetOf(ENTRY_LIMIT, TIME_LIMIT_MS);
}

/** Yields the real paths of the Lisp files in WORKSPACE, as far as BUDGET allows. Before it yields a path, makes PLACES
 * read this file. */
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
