// Lists the built-in tools, in the order in which clients see them.

import type { Intents } from '../files/intents.ts';
import type { Workspace } from '../files/workspace.ts';
import type { Image, Replaceable } from '../image/image.ts';
import type { Tool } from '../kernel/tool.ts';
import type { AuditLog } from '../records/audit-log.ts';
import type { ReplHistory } from '../records/repl-history.ts';
import { withAnswerChecks } from './answered.ts';
import { type PendingEdits, WorkspaceBuffers } from './buffer/buffers.ts';
import { readBuffer, readFile } from './buffer/reading.ts';
import { searchInBuffer } from './buffer/search-in-buffer.ts';
import { writeFile } from './buffer/writing.ts';
import { debug } from './debug/debug.ts';
import type { Holds } from './debug/hold.ts';
import { inspect } from './debug/inspect.ts';
import { editDefinitions } from './definitions/edit-definitions.ts';
import { readDefinition } from './definitions/read-definition.ts';
import { proposeFileEdit } from './diff/edit.ts';
import { compareImage } from './execution/compare-image.ts';
import { compileForm } from './execution/compilation.ts';
import { evalForm } from './execution/evaluation.ts';
import { getReplHistory } from './execution/history.ts';
import { imageStatus } from './execution/image-status.ts';
import { interrupt } from './execution/interrupt.ts';
import { getLastError } from './execution/last-error.ts';
import { loadFile, loadSystem } from './execution/loading.ts';
import { restartImage } from './execution/restart.ts';
import { classHierarchy, classSlots } from './introspection/clos.ts';
import { functionArglist } from './introspection/functions.ts';
import { impactOfChange } from './introspection/impact.ts';
import { macroexpandForm } from './introspection/macros.ts';
import { listPackageSymbols } from './introspection/packages.ts';
import { whoReferences } from './introspection/references.ts';
import { aproposSearch, describeSymbol } from './introspection/symbols.ts';
import { whoCalls } from './introspection/xref.ts';
import { observe } from './observe/observe.ts';
import type { Places } from './places.ts';
import { renameSymbol } from './renaming/rename-symbol.ts';
import { getAuditLog } from './settings/get-audit-log.ts';
import { ReachedDefinitions } from './tests/reached.ts';
import { runTests } from './tests/run-tests.ts';
import { ShownWarnings } from './told-warnings.ts';
import { notingUnloaded } from './unloaded.ts';

/** The objects that tools depend on. */
export interface ToolDependencies {
  image: Image;
  /** The same image when this server runs it and can restart it; undefined when somebody else runs the
   *  image. */
  replaceable: Replaceable | undefined;
  workspace: Workspace;
  places: Places;
  /** The calls that are held at an error. */
  holds: Holds;
  log: AuditLog;
  history: ReplHistory;
  /** The records of edits of several files at once, for a rollback after a kill. */
  intents: Intents;
  /** Edits that wait for an approval. */
  pendingEdits: PendingEdits;
  /** Returns a sentence that says how code in the image is confined. Absent: unknown. */
  confinement?: () => string;
  /** At most this many milliseconds are spent on matching a pattern against one text. Absent: the default. */
  matchMs?: number | undefined;
}

/** Returns the eighteen tools of the contract (C5). */
export function agentQTools(dependencies: ToolDependencies): Tool[] {
  const { image, workspace, places, holds, history, pendingEdits, matchMs } = dependencies;
  const buffers = new WorkspaceBuffers(workspace, pendingEdits);
  return [
    describeSymbol(image, places),
    aproposSearch(image, places),
    functionArglist(image, places),
    whoCalls(image, places),
    whoReferences(image, places),
    listPackageSymbols(image),
    classSlots(image),
    classHierarchy(image),
    macroexpandForm(image, places),
    evalForm(image, history, { places, holds }),
    compileForm(image, { places, holds }),
    getLastError(image, places),
    getReplHistory(history),
    readFile(workspace, buffers),
    readBuffer(buffers),
    searchInBuffer(buffers, matchMs),
    writeFile(workspace),
    proposeFileEdit(workspace),
  ].map((tool) => withAnswerChecks(notingUnloaded(tool, dependencies), image));
}

/** Returns the built-in tools beyond the eighteen of the contract. */
export function furtherTools(dependencies: ToolDependencies): Tool[] {
  const { image, replaceable, workspace, places, holds, log, history, intents } = dependencies;
  const origins = { image, places, workspace, history };
  const editing = editDefinitions(origins, intents);
  const reached = new ReachedDefinitions();
  const shownWarnings = new ShownWarnings();
  const evaluating = evalForm(image, history, { places, holds });
  return [
    loadSystem(image, { places, holds, shownWarnings }),
    loadFile(image, { places, holds, shownWarnings }, workspace),
    runTests(image, { places, workspace, holds, shownWarnings, reached, editing, evaluating }),
    compareImage(image, places, workspace),
    readDefinition(origins),
    editing,
    renameSymbol({ image, places, workspace, intents }),
    impactOfChange(origins, reached),
    debug(image, holds, places),
    inspect(image),
    observe(image, places),
    imageStatus(image, replaceable, dependencies.confinement),
    interrupt(image, places),
    ...(replaceable ? [restartImage(replaceable)] : []),
    getAuditLog(log),
  ].map((tool) => withAnswerChecks(notingUnloaded(tool, dependencies), image));
}
