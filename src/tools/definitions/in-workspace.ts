// Decides which forms in the files of the workspace define a name that the image does not place: tests, systems, what is
// not loaded.

import { budgetOf } from '../../files/budget.ts';
import { filesBelow } from '../../files/walk.ts';
import type { Workspace } from '../../files/workspace.ts';
import type { DefinitionText } from '../definition-text.ts';
import { isLispFile } from '../parentheses.ts';
import type { Places } from '../places.ts';

/** Entries of directories, and milliseconds, that looking may take. */
const ENTRIES = 20_000;
const MS = 3000;
/** Definitions that are told. */
const TOLD = 10;

/** Returns the definitions of SYMBOL, a name as texts have it, in the Lisp files of WORKSPACE, under FEATURES. */
export async function workspaceDefinitions(
  workspace: Workspace,
  places: Places,
  symbol: string,
  features: ReadonlySet<string>,
): Promise<DefinitionText[]> {
  const found: DefinitionText[] = [];
  for await (const path of lispFiles(workspace)) {
    found.push(...places.definitionsOf(path, symbol, features));
    if (found.length >= TOLD) return found.slice(0, TOLD);
  }
  return found;
}

/** Yields the real paths of the Lisp files of WORKSPACE, as far as there is time to look for them. */
export async function* lispFiles(workspace: Workspace): AsyncGenerator<string> {
  for await (const path of filesBelow(workspace, workspace.rootFolders(), budgetOf(ENTRIES, MS)))
    if (isLispFile(path)) yield path;
}
