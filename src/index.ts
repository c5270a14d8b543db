// Decides what the package exports as a library; importing it starts nothing.

import { assemble, HOME } from './assembly.ts';
import { readConfig } from './config.ts';

// TOOL_CATALOG has every tool from the start. No tool runs here, so the root does not matter, but it must exist:
// the current directory may not.
assemble(readConfig(['--root', HOME], process.env));

export {
  AGENT_Q_REGISTRY,
  closeImage,
  executeToolCall,
  getAgentQTools,
  getTool,
  listRegisteredTools,
  registerAgentQTools,
  registerTool,
} from './agent-q.ts';
export { type CatalogSummary, getCatalogSummary, TOOL_CATALOG, type ToolCatalog } from './catalog/catalog.ts';
export { getToolListForMCP, type ListMode } from './catalog/list.ts';
export { type McpTool, toMCPTool } from './catalog/mcp-tool.ts';
export type { CategoryFilter, TokenCost, ToolCategory, ToolMetadata } from './catalog/metadata.ts';
export {
  type CatalogEntry,
  searchTools,
  type ToolSearchOptions,
  type ToolSearchResult,
} from './catalog/search.ts';
export {
  executeSearchTools,
  type FoundTool,
  getSearchToolsDefinition,
  type SearchToolsArgs,
  type SearchToolsResult,
} from './catalog/search-tools.ts';
export type { Question, Verdict } from './kernel/approval.ts';
export { type ToolFilter, ToolRegistry } from './kernel/registry.ts';
export { type FunctionSchema, type InputSchema, toolsToSchema, toolToSchema } from './kernel/schema.ts';
export {
  type Arguments,
  type CallContext,
  defineTool,
  type Parameter,
  type ParameterType,
  type Preview,
  type Result,
  type SafetyLevel,
  type Tool,
  type ToolDefinition,
} from './kernel/tool.ts';
export type { ToolCall, ToolCallOptions, ToolResult } from './kernel/tool-call.ts';
