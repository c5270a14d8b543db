// Finds definitions in the files of the workspace that the image does not know: tests, systems, files not loaded.

import { type Budget, budgetOf } from '../../files/budget.ts';
import { filesBelow } from '../../files/walk.ts';
import type { Workspace } from '../../files/workspace.ts';
import { isLispFile } from '../parentheses.ts';
import type { NamedText, Places } from '../places.ts';
import { takingTurns } from '../turns.ts';
import { type Asked, prefixOf } from './asked-names.ts';
import { linesText, type ReadRow, type WantedText, wantsMethods } from './described.ts';

/** A search may read this many directory entries, for this many milliseconds. */
const ENTRIES = 20_000;
const MS = 10_000;

/** Where to search, and for which package. */
interface Looking {
  workspace: Workspace;
  places: Places;
  /** The package of names without prefix, when the caller gave one. */
  home: string | undefined;
  /** True when a definition by OPERATOR, such as DEFUN, can be the one asked for. */
  isMeant: (operator: string) => boolean;
}

/** Returns the definitions of ASKED in the Lisp files of the workspace, filtered by WANTED, each with NOTE. WHOLE: all
 *  files were searched. Methods of a generic function are only listed, unless wanted, or when there is nothing else. */
export async function workspaceDefinitions(
  { workspace, places, home, isMeant }: Looking,
  asked: Asked,
  wanted: WantedText,
  note: string,
): Promise<{ rows: ReadRow[]; whole: boolean }> {
  const budget = lookingBudget();
  const all: NamedText[] = [];
  for await (const path of lispFiles(workspace, places, budget))
    all.push(...places.definitionsOf(path, asked.symbol).filter(({ operator }) => isMeant(operator)));
  const prefix = (prefixOf(asked) ?? home)?.toUpperCase();
  const same = all.filter((each) => each.home.toUpperCase() === prefix);
  const named = same.length > 0 ? same : all;
  const isMethod = ({ operator }: NamedText) => operator === 'DEFMETHOD';
  const found = named.filter(
    (each) => asked.methods === undefined || (isMethod(each) && asked.methods.includes(each.method)),
  );
  const others = found.filter((each) => !isMethod(each));
  const told = wantsMethods(wanted) || others.length === 0 ? found : others;
  const methods = found.flatMap((each) =>
    told.includes(each) ? [] : { name: each.head, at: `${each.file}:${each.line}` },
  );
  const rows = told.map(({ file, line, lastLine, text }, index) => ({
    name: asked.name,
    at: linesText(file, line, lastLine),
    note,
    text,
    ...(index === 0 && methods.length > 0 && { methods }),
  }));
  return { rows, whole: !budget.exceeded };
}

/** Returns a fresh budget to search the workspace for one name. */
export function lookingBudget(): Budget {
  return budgetOf(ENTRIES, MS);
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
