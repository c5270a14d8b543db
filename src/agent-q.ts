// Exports the tools as functions, for programs that do not use MCP. The process has one registry and one image.
// docs/develop/contracts.md lists the promises of these functions.

import { type Assembly, assemble, assembleParts, registerBuiltIns } from './assembly.ts';
import { Catalog } from './catalog/catalog.ts';
import { readConfig } from './config.ts';
import { CallError, UsageError } from './errors.ts';
import * as calls from './kernel/model-call.ts';
import { type ToolFilter, ToolRegistry } from './kernel/registry.ts';
import type { Tool } from './kernel/tool.ts';
import { PACKAGE_FOLDER, withSandbox } from './sandboxing.ts';

/** The registry of this process. It is empty until registerAgentQTools is called. */
export const AGENT_Q_REGISTRY = new ToolRegistry();

let assembly: Assembly | undefined;
let registered = false;
let announced: readonly Tool[] | undefined;

/** The catalog of AGENT_Q_REGISTRY. Before registerAgentQTools is called, it already has the tools that this call will
 * register, so that a program can search for tools without an image. */
export const TOOL_CATALOG = new Catalog({
  get revision() {
    return AGENT_Q_REGISTRY.revision;
  },
  tools: () => [...AGENT_Q_REGISTRY.tools(), ...(registered ? [] : announcedTools())],
});

function announcedTools(): Tool[] {
  // These tools never run, so any existing folder can be the root. The current directory may have been deleted.
  announced ??= assemble(readConfig(['--root', PACKAGE_FOLDER], process.env)).registry.tools();
  return announced.filter(({ name }) => AGENT_Q_REGISTRY.getTool(name) === null);
}

/** Returns the image, the executor and the records of this process. The first call creates them, according to FLAGS. */
function assembled(flags: readonly string[]): Assembly {
  if (assembly !== undefined) return assembly;
  const config = readConfig(flags, process.env);
  if (config.images.length > 0)
    throw new UsageError('A process that imports live-lisp works with one image; give --image once.');
  assembly = assembleParts(withSandbox(config), AGENT_Q_REGISTRY, TOOL_CATALOG);
  return assembly;
}

/** Registers the built-in tools in AGENT_Q_REGISTRY: the eighteen tools of the contract (docs/develop/contracts.md),
 * and others, such as search_tools, which the lists of tools leave out. Returns the number of tools in these lists: 18,
 * and those that the program itself has registered. FLAGS are flags of the command line, such as ['--root', 'src']. The
 * image starts when a call first needs it. Throws a UsageError when FLAGS are wrong. Throws a CallError when FLAGS are
 * given after the options of the image were fixed. */
export function registerAgentQTools(flags: readonly string[] = []): number {
  if (assembly !== undefined && flags.length > 0) {
    throw new CallError(
      "The options of this process's image are fixed already. Give the flags in the first call of registerAgentQTools, before any call of executeToolCall.",
    );
  }
  const parts = assembled(flags);
  registered = true;
  registerBuiltIns(parts);
  return AGENT_Q_REGISTRY.listRegisteredTools().length;
}

/** Adds TOOL to REGISTRY and returns it. Throws a CallError when it is not valid. */
export function registerTool(registry: ToolRegistry, tool: Tool): Tool {
  return registry.register(tool);
}

/** Returns the tool NAME from AGENT_Q_REGISTRY; null when there is none. */
export function getTool(name: string): Tool | null {
  return AGENT_Q_REGISTRY.getTool(name);
}

/** Returns the names of the tools in AGENT_Q_REGISTRY. */
export function listRegisteredTools(): string[] {
  return AGENT_Q_REGISTRY.listRegisteredTools();
}

/** Returns the tools of AGENT_Q_REGISTRY that FILTER accepts. */
export function getAgentQTools(filter: ToolFilter = {}): Tool[] {
  return AGENT_Q_REGISTRY.getAgentQTools(filter);
}

/** Performs CALL, a tool call by a model, with the tools of this process, and returns its result. Validates the
 * arguments, asks for an approval if the tool's level needs one, and records the call if the tool is not safe. Never
 * throws. */
export function executeToolCall(
  call: calls.ToolCall,
  options: calls.ToolCallOptions = {},
): Promise<calls.ToolResult> {
  return calls.runModelCall(() => assembled([]).executor, call, options);
}

/** Ends the image, so that the process can exit. The tools stay registered, but calls that need the image then fail. */
export function closeImage(): void {
  assembly?.image.close();
}
