// Decides the contract's registry as functions, for programs that use the tools without MCP: one registry and one
// image per process.

import { type Assembly, assembleParts, registerEighteen } from './assembly.ts';
import { readConfig } from './config.ts';
import { CallError } from './errors.ts';
import { type ToolFilter, ToolRegistry } from './kernel/registry.ts';
import type { Tool } from './kernel/tool.ts';
import * as calls from './kernel/tool-call.ts';

/** The registry of this process; it is empty until registerAgentQTools is called (S4.12). */
export const AGENT_Q_REGISTRY = new ToolRegistry();

let assembly: Assembly | undefined;

/** Returns the image, executor and records of this process, made with FLAGS when there are none yet. */
function assembled(flags: readonly string[]): Assembly {
  assembly ??= assembleParts(readConfig(flags, process.env), AGENT_Q_REGISTRY);
  return assembly;
}

/** Adds the eighteen tools to AGENT_Q_REGISTRY and returns how many tools it has: 18, unless it has other tools
 *  besides (S4.9). FLAGS are those of the command line, such as ['--root', 'src']. The image starts with the first
 *  call that needs it. Throws a UsageError for wrong FLAGS, and a CallError for FLAGS in a later call: the tools
 *  stay over the first image. */
export function registerAgentQTools(flags: readonly string[] = []): number {
  if (assembly !== undefined && flags.length > 0) {
    throw new CallError(
      'This process has its image already, with other flags. Give the flags in the first call of registerAgentQTools, before any call of executeToolCall.',
    );
  }
  registerEighteen(assembled(flags));
  return AGENT_Q_REGISTRY.listRegisteredTools().length;
}

/** Adds TOOL to REGISTRY and returns it (S4.1). Throws a CallError when it is not valid (S4.2). */
export function registerTool(registry: ToolRegistry, tool: Tool): Tool {
  return registry.register(tool);
}

/** Returns the tool NAME of AGENT_Q_REGISTRY, or null (S4.3). */
export function getTool(name: string): Tool | null {
  return AGENT_Q_REGISTRY.getTool(name);
}

/** Returns the names of the tools in AGENT_Q_REGISTRY (S4.4). */
export function listRegisteredTools(): string[] {
  return AGENT_Q_REGISTRY.listRegisteredTools();
}

/** Returns the tools of AGENT_Q_REGISTRY that FILTER lets pass (S4.5 to S4.7). */
export function getAgentQTools(filter: ToolFilter = {}): Tool[] {
  return AGENT_Q_REGISTRY.getAgentQTools(filter);
}

/** Returns the result of CALL, which a model made, through the registry of this process: validated, gated by its
 *  level, recorded when it is not safe. Never throws (S2.9, S2.11, S4.13). */
export function executeToolCall(
  call: calls.ToolCall,
  options: calls.ToolCallOptions = {},
): Promise<calls.ToolResult> {
  return calls.executeToolCall(assembled([]).executor, call, options);
}

/** Ends the image, so that the process can end. The tools stay registered, and those over the image fail. */
export function closeImage(): void {
  assembly?.image.close();
}
