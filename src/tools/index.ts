// Lists the built-in tools, in the order in which clients see them.

import type { Intents } from '../files/intents.ts';
import type { Workspace } from '../files/workspace.ts';
import type { Image, RestartableImage } from '../image/image.ts';
import type { Tool } from '../kernel/tool.ts';
import type { AuditLog } from '../records/audit-log.ts';
import type { ReplHistory } from '../records/repl-history.ts';
import { withAnswerChecks } from './answer-checks.ts';
import { type PendingEdits, WorkspaceBuffers } from './buffer/buffers.ts';
import { readBufferTool, readFileTool } from './buffer/reading.ts';
import { searchInBufferTool } from './buffer/search-in-buffer.ts';
import { writeFileTool } from './buffer/writing.ts';
import { debugTool } from './debug/debug.ts';
import type { HeldToolCalls } from './debug/hold.ts';
import { inspectTool } from './debug/inspect.ts';
import { editDefinitionsTool } from './definitions/edit-definitions.ts';
import { readDefinitionTool } from './definitions/read-definition.ts';
import { proposeFileEditTool } from './diff/edit.ts';
import { compareImageTool } from './execution/compare-image.ts';
import { compileFormTool } from './execution/compilation.ts';
import { evalFormTool } from './execution/evaluation.ts';
import { getReplHistoryTool } from './execution/history.ts';
import { imageStatusTool } from './execution/image-status.ts';
import { interruptTool } from './execution/interrupt.ts';
import { getLastErrorTool } from './execution/last-error.ts';
import { loadFileTool, loadSystemTool } from './execution/loading.ts';
import { restartImageTool } from './execution/restart.ts';
import { classHierarchyTool, classSlotsTool } from './introspection/clos.ts';
import { functionArglistTool } from './introspection/functions.ts';
import { impactOfChangeTool } from './introspection/impact.ts';
import { macroexpandFormTool } from './introspection/macros.ts';
import { listPackageSymbolsTool } from './introspection/packages.ts';
import { whoReferencesTool } from './introspection/references.ts';
import { aproposSearchTool, describeSymbolTool } from './introspection/symbols.ts';
import { whoCallsTool } from './introspection/xref.ts';
import { observeTool } from './observe/observe.ts';
import type { Places } from './places.ts';
import { renameSymbolTool } from './renaming/rename-symbol.ts';
import { getAuditLogTool } from './settings/get-audit-log.ts';
import { ShownWarnings } from './shown-warnings.ts';
import { ReachedDefinitions } from './tests/reached.ts';
import { runTestsTool } from './tests/run-tests.ts';
import { notingUnloaded } from './unloaded.ts';

/** The objects that tools depend on. */
export interface ToolDependencies {
  image: Image;
  /** The same image when this server runs it and can restart it; undefined when somebody else runs the
   *  image. */
  replaceable: RestartableImage | undefined;
  workspace: Workspace;
  places: Places;
  /** The calls that are held at an error. */
  holds: HeldToolCalls;
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
    describeSymbolTool(image, places),
    aproposSearchTool(image, places),
    functionArglistTool(image, places),
    whoCallsTool(image, places),
    whoReferencesTool(image, places),
    listPackageSymbolsTool(image),
    classSlotsTool(image),
    classHierarchyTool(image),
    macroexpandFormTool(image, places),
    evalFormTool(image, history, { places, holds }),
    compileFormTool(image, { places, holds }),
    getLastErrorTool(image, places),
    getReplHistoryTool(history),
    readFileTool(workspace, buffers),
    readBufferTool(buffers),
    searchInBufferTool(buffers, matchMs),
    writeFileTool(workspace),
    proposeFileEditTool(workspace),
  ].map((tool) => withAnswerChecks(notingUnloaded(tool, dependencies), image));
}

/** Returns the built-in tools beyond the eighteen of the contract. */
export function furtherTools(dependencies: ToolDependencies): Tool[] {
  const { image, replaceable, workspace, places, holds, log, history, intents } = dependencies;
  const origins = { image, places, workspace, history };
  const editing = editDefinitionsTool(origins, intents);
  const reached = new ReachedDefinitions();
  const shownWarnings = new ShownWarnings();
  const evaluating = evalFormTool(image, history, { places, holds });
  return [
    loadSystemTool(image, { places, holds, shownWarnings }),
    loadFileTool(image, { places, holds, shownWarnings }, workspace),
    runTestsTool(image, { places, workspace, holds, shownWarnings, reached, editing, evaluating }),
    compareImageTool(image, places, workspace),
    readDefinitionTool(origins),
    editing,
    renameSymbolTool({ image, places, workspace, intents }),
    impactOfChangeTool(origins, reached),
    debugTool(image, holds, places),
    inspectTool(image),
    observeTool(image, places),
    imageStatusTool(image, replaceable, dependencies.confinement),
    interruptTool(image, places),
    ...(replaceable ? [restartImageTool(replaceable)] : []),
    getAuditLogTool(log),
  ].map((tool) => withAnswerChecks(notingUnloaded(tool, dependencies), image));
}
