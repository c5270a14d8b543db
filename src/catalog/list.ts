// Builds the answer to tools/list in each list mode.

import { CALL_TOOL, callToolDefinition } from './call-tool.ts';
import { type McpTool, toMCPTool } from './mcp-tool.ts';
import type { ToolCategory, ToolMetadata } from './metadata.ts';
import { getSearchToolsDefinition, SEARCH_TOOLS } from './search-tools.ts';

export type ListMode = 'full' | 'lightweight' | 'summary' | 'search';

export interface LightweightTool {
  name: string;
  description: string;
  category: ToolCategory;
  hasCEMCPDirective: boolean;
}

type Tools = ReadonlyMap<string, ToolMetadata>;

/** Returns the tools of CATALOG that tools/list gives in the list mode `mode`. search_tools comes first. */
export function listedTools(
  { mode = 'lightweight' }: { mode?: ListMode },
  catalog: Tools,
): { tools: McpTool[] } {
  // In mode full, clients that load only some of the tools have a search of their own. In all other modes the model
  // needs search_tools, so clients must always load it.
  return { tools: [getSearchToolsDefinition(mode !== 'full'), ...otherTools(mode, catalog)] };
}

function otherTools(mode: ListMode, catalog: Tools): McpTool[] {
  switch (mode) {
    case 'summary':
      return [];
    case 'search':
      return [callToolDefinition()];
    case 'lightweight':
      return lightweightTools(catalog).map(lightweightTool);
    default:
      return unlistedTools(catalog).map(toMCPTool);
  }
}

function unlistedTools(catalog: Tools): ToolMetadata[] {
  const listed: readonly string[] = [SEARCH_TOOLS.name, CALL_TOOL.name];
  return [...catalog.values()].filter(({ name }) => !listed.includes(name));
}

/** Returns the short entries of the list mode `lightweight` for the tools of CATALOG, without search_tools, sorted by
 * name. */
export function lightweightTools(catalog: Tools): LightweightTool[] {
  return unlistedTools(catalog)
    .sort((one, other) => one.name.localeCompare(other.name, 'en'))
    .map(({ name, shortDescription, category, hasCEMCPDirective }) => ({
      name,
      description: shortDescription,
      category,
      hasCEMCPDirective,
    }));
}

function lightweightTool({ name, category, description, hasCEMCPDirective }: LightweightTool): McpTool {
  return {
    name,
    description: `[${category}] ${description}${hasCEMCPDirective ? ' (CE-MCP)' : ''}`,
    inputSchema: {
      type: 'object',
      properties: {},
      description: `Use search_tools with query:"${name}" to get full schema`,
    },
  };
}
