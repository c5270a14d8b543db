// Decides what tools/list shows in each mode.

import { CALL_TOOL, callToolDefinition } from './call-tool.ts';
import { TOOL_CATALOG } from './catalog.ts';
import { type McpTool, toMCPTool } from './mcp-tool.ts';
import type { ToolMetadata } from './metadata.ts';
import { getSearchToolsDefinition, SEARCH_TOOLS } from './search-tools.ts';

export type ListMode = 'full' | 'lightweight' | 'summary' | 'search';

/** Returns the tools of CATALOG as MODE lists them, search_tools first (S1.12, S1.16). */
export function getToolListForMCP(
  { mode = 'lightweight' }: { mode?: ListMode } = {},
  catalog: ReadonlyMap<string, ToolMetadata> = TOOL_CATALOG,
): { tools: McpTool[] } {
  const listed = [SEARCH_TOOLS.name, CALL_TOOL.name];
  const others = [...catalog.values()].filter(({ name }) => !listed.includes(name));
  return { tools: [getSearchToolsDefinition(), ...otherTools(mode, others)] };
}

function otherTools(mode: ListMode, others: ToolMetadata[]): McpTool[] {
  switch (mode) {
    case 'summary':
      return [];
    case 'search':
      return [callToolDefinition()];
    case 'lightweight':
      return others.sort((one, other) => one.name.localeCompare(other.name, 'en')).map(lightweightTool);
    default:
      return others.map(toMCPTool);
  }
}

function lightweightTool({ name, category, shortDescription, hasCEMCPDirective }: ToolMetadata): McpTool {
  return {
    name,
    description: `[${category}] ${shortDescription}${hasCEMCPDirective ? ' (CE-MCP)' : ''}`,
    inputSchema: {
      type: 'object',
      properties: {},
      description: `Use search_tools with query:"${name}" to get full schema`,
    },
  };
}
