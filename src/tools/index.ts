// Lists the built-in tools, in the order in which clients see them.

import { realPathOf } from '../files/answering.ts';
import type { Tool } from '../kernel/tool.ts';
import { withAnswerChecks } from './answer-checks.ts';
import { WorkspaceBuffers } from './buffer/buffers.ts';
import { readBufferTool, readFileTool } from './buffer/reading.ts';
import { searchInBufferTool } from './buffer/search-in-buffer.ts';
import { writeFileTool } from './buffer/writing.ts';
import { limitOption } from './calling.ts';
import { debugTool } from './debug/debug.ts';
import { inspectTool } from './debug/inspect.ts';
import { editDefinitionsTool } from './definitions/edit-definitions.ts';
import { readDefinitionTool } from './definitions/read-definition.ts';
import type { ToolDependencies } from './dependencies.ts';
import { proposeFileEditTool } from './diff/edit.ts';
import { compareImageTool } from './execution/compare-image.ts';
import { compileFormTool } from './execution/compilation.ts';
import { evalFormTool, evaluatedParts } from './execution/evaluation.ts';
import { getReplHistoryTool } from './execution/history.ts';
import { imageStatusTool } from './execution/image-status.ts';
import { interruptTool } from './execution/interrupt.ts';
import { getLastErrorTool } from './execution/last-error.ts';
import { loadFileTool } from './execution/load-file.ts';
import { loadSystemTool } from './execution/load-system.ts';
import { restartImageTool } from './execution/restart.ts';
import { withFresh } from './fresh.ts';
import type { FreshAdapter } from './fresh-call.ts';
import { classHierarchyTool, classSlotsTool } from './introspection/clos.ts';
import { functionArglistTool } from './introspection/functions.ts';
import { impactOfChangeTool } from './introspection/impact.ts';
import { macroexpandFormTool } from './introspection/macros.ts';
import { listPackageSymbolsTool } from './introspection/packages.ts';
import { whoReferencesTool } from './introspection/references.ts';
import { aproposSearchTool, describeSymbolTool } from './introspection/symbols.ts';
import { whoCallsTool } from './introspection/xref.ts';
import { observeTool } from './observe/observe.ts';
import { renameSymbolTool } from './renaming/rename-symbol.ts';
import { getAuditLogTool } from './settings/get-audit-log.ts';
import { sourceFile } from './source-file.ts';
import type { TestDependencies } from './tests/dependencies.ts';
import { TestMemory } from './tests/memory.ts';
import { prepare } from './tests/preparation.ts';
import { ReachedDefinitions } from './tests/reached.ts';
import { runTestsTool } from './tests/run-tests.ts';
import { notingUnloaded } from './unloaded.ts';
import { notingUnsaved, notingUnsavedLisp } from './unsaved.ts';

/** Returns the eighteen tools of the contract (docs/develop/contracts.md). */
export function agentQTools(dependencies: ToolDependencies): Tool[] {
  const { image, workspace, places, holds, history, pendingEdits, matchMs } = dependencies;
  const buffers = new WorkspaceBuffers(workspace, pendingEdits);
  return [
    describeSymbolTool(image, places),
    aproposSearchTool(image, places),
    functionArglistTool(image, places),
    notingUnsaved(whoCallsTool(image, places), workspace),
    notingUnsaved(whoReferencesTool(image, places), workspace),
    listPackageSymbolsTool(image),
    classSlotsTool(image),
    classHierarchyTool(image),
    macroexpandFormTool(image, places),
    withFresh(dependencies, EVALUATING),
    compileFormTool(image, { places, holds }),
    getLastErrorTool(image, places),
    getReplHistoryTool(history),
    notingUnsaved(readFileTool(workspace, buffers), workspace),
    readBufferTool(buffers),
    searchInBufferTool(buffers, matchMs),
    writeFileTool(workspace),
    proposeFileEditTool(workspace),
  ].map((tool) => withAnswerChecks(notingUnloaded(tool, dependencies), image));
}

/** Returns all built-in tools except the eighteen of the contract (docs/develop/contracts.md). */
export function furtherTools(dependencies: ToolDependencies): Tool[] {
  const { image, replaceable, workspace, places, holds, log, observations, intents, turns } = dependencies;
  const editing = editDefinitionsTool(dependencies, intents, turns);
  const records = { reached: new ReachedDefinitions(), memory: new TestMemory() };
  return [
    notingUnsavedLisp(withFresh(dependencies, LOADING_SYSTEM), workspace),
    notingUnsaved(withFresh(dependencies, LOADING_FILE), workspace),
    notingUnsavedLisp(withFresh(dependencies, testing(dependencies, editing, records)), workspace),
    notingUnsavedLisp(compareImageTool(image, places, workspace), workspace),
    notingUnsaved(readDefinitionTool(dependencies), workspace),
    editing,
    notingUnsavedLisp(renameSymbolTool(dependencies, turns), workspace),
    notingUnsaved(impactOfChangeTool(dependencies, records.reached), workspace),
    debugTool(image, holds, places),
    inspectTool(image),
    observeTool(image, places, observations),
    imageStatusTool(image, replaceable, dependencies.confinement),
    interruptTool(image, places),
    ...(replaceable ? [restartImageTool(replaceable)] : []),
    getAuditLogTool(log),
  ].map((tool) => withAnswerChecks(notingUnloaded(tool, dependencies), image));
}

function evaluating({ image, history, places, holds }: ToolDependencies): Tool {
  return evalFormTool(image, history, { places, holds });
}

const EVALUATING: FreshAdapter = { over: evaluating, parts: evaluatedParts };

const LOADING_SYSTEM: FreshAdapter = {
  over: (of) => loadSystemTool(of.image, of),
  loads: async ({ system }) => ({ system: String(system) }),
};

const LOADING_FILE: FreshAdapter = {
  over: (of) => loadFileTool(of.image, of, of.workspace),
  loads: async ({ path }, { workspace }) => ({
    file: await realPathOf(await sourceFile(workspace, String(path))),
  }),
};

type TestRecords = Pick<TestDependencies, 'reached' | 'memory'>;

/** Returns the functions for calling run_tests in a fresh image. EDITING is the tool that makes edits for run_tests.
 * RECORDS has the results that tests had in the running image, that of RUNNING. Results in a fresh image are compared
 * with them. */
function testing(running: ToolDependencies, editing: Tool, records: TestRecords): FreshAdapter {
  const isCopy = ({ places }: ToolDependencies) => places.root !== running.places.root;
  const recordsFor = (fresh: ToolDependencies): TestRecords => ({
    reached: isCopy(fresh) ? records.reached.copy() : records.reached,
    memory: records.memory.copyFor('in the running image'),
  });
  return {
    over: (of) =>
      runTestsTool({
        ...of,
        ...(of === running ? records : recordsFor(of)),
        keepRun: of === running ? (run) => running.observations.keepTests(run) : undefined,
        editing,
        evaluating: evaluating(of),
        limitsLoads: of !== running,
      }),
    build: async (fresh, { system, timeout }, context) => {
      const wanted = typeof system === 'string' ? { system } : {};
      const loadLimit = typeof timeout === 'number' ? limitOption({ timeout }) : {};
      const prepared = await prepare({ ...fresh, ...records, loadLimit }, wanted, context);
      return 'failed' in prepared ? prepared.failed : undefined;
    },
  };
}
