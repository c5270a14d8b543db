// Lists the exports of the package as a library. Importing this file starts nothing.

export {
  AGENT_Q_REGISTRY,
  closeImage,
  executeToolCall,
  getAgentQTools,
  getTool,
  listRegisteredTools,
  registerAgentQTools,
  registerTool,
  TOOL_CATALOG,
} from './agent-q.ts';
export type { Catalog as ToolCatalog, CatalogSummary } from './catalog/catalog.ts';
export type { LightweightTool, ListMode } from './catalog/list.ts';
export { type McpTool, toMCPTool } from './catalog/mcp-tool.ts';
export type { CategoryFilter, TokenCost, ToolCategory, ToolMetadata } from './catalog/metadata.ts';
export type { CatalogEntry, ToolSearchOptions, ToolSearchResult } from './catalog/search.ts';
export {
  type FoundTool,
  getSearchToolsDefinition,
  type SearchToolsArgs,
  type SearchToolsResult,
} from './catalog/search-tools.ts';
export {
  executeSearchTools,
  getCatalogSummary,
  getLightweightToolList,
  getToolListForMCP,
  searchTools,
} from './discovery.ts';
export type { Question, Verdict } from './kernel/approval.ts';
export type { ToolCall, ToolCallOptions, ToolResult } from './kernel/model-call.ts';
export type { Arguments, ArgumentsOf, Parameter, ParameterType } from './kernel/parameter.ts';
export { type ToolFilter, ToolRegistry } from './kernel/registry.ts';
export { type FunctionSchema, type InputSchema, toolsToSchema, toolToSchema } from './kernel/schema.ts';
export {
  type CallContext,
  defineTool,
  type Preview,
  type Result,
  type SafetyLevel,
  type Tool,
  type ToolDefinition,
} from './kernel/tool.ts';
