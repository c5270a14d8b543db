// Decides the tool search_tools: its definition, its arguments and how its answer reads.

import { CallError } from '../errors.ts';
import { JSON_LIMIT } from '../kernel/reply.ts';
import { validateArguments } from '../kernel/schema.ts';
import { COMPLEXITIES, type Complexity, defineTool, keywordList, type Parameter } from '../kernel/tool.ts';
import { getCatalogSummary, TOOL_CATALOG } from './catalog.ts';
import { type McpTool, toMCPTool } from './mcp-tool.ts';
import { CATEGORY_FILTERS, metadataOf, type ToolCategory, type ToolMetadata } from './metadata.ts';
import { QUERY_LIMIT } from './ranking.ts';
import { searchTools, type ToolSearchOptions } from './search.ts';

export type SearchToolsArgs = ToolSearchOptions;

/** One tool as search_tools answers (S1.10). */
export interface FoundTool {
  name: string;
  description: string;
  category: ToolCategory;
  complexity: Complexity;
  hasCEMCPDirective: boolean;
  tokenCost: { min: number; max: number };
  match?: 'ranked';
  inputSchema?: ToolMetadata['inputSchema'];
}

export interface SearchToolsResult {
  success: true;
  tools: FoundTool[];
  summary: {
    /** How many tools were found, before the limit. */
    totalFound: number;
    totalInCatalog: number;
    byCategory: Record<ToolCategory, number>;
  };
  query?: string;
  /** Says how code calls them, when only such tools were asked for, or that not all had room, and how to get the rest. */
  note?: string;
}

/** How code calls the tools that are found with cemcpOnly. */
const FROM_CODE =
  'Code in the image calls these as (live-lisp:call-tool "NAME" :parameter value ...), which returns the data, without limit all of it: an eval_form that filters it costs less than calls that list it.';

const PARAMETERS: readonly Parameter[] = [
  { name: 'category', type: 'string', description: 'Filter tools by category', enum: CATEGORY_FILTERS },
  {
    name: 'query',
    type: 'string',
    description: 'Search query to match tool names, descriptions, and keywords',
  },
  {
    name: 'complexity',
    type: 'string',
    description: 'Filter by tool complexity level',
    enum: COMPLEXITIES,
  },
  {
    name: 'cemcpOnly',
    type: 'boolean',
    description: 'Only return tools with CE-MCP directive support (more token-efficient)',
    default: false,
  },
  {
    name: 'includeSchema',
    type: 'boolean',
    description: 'Include full input schemas in response (increases token count)',
    default: false,
  },
  { name: 'limit', type: 'number', description: 'Maximum number of tools to return', default: 20 },
];

/** The tool search_tools, over TOOL_CATALOG. */
export const SEARCH_TOOLS = defineTool({
  name: 'search_tools',
  title: 'Search tools',
  description:
    'Search and discover available tools by category, keyword, or capability. Use this to find the right tool for a task without loading all tool schemas. Returns lightweight tool metadata by default; use includeSchema:true for full schemas.',
  parameters: PARAMETERS,
  categories: ['discovery'],
  shortDescription: 'Find the right tool for a task, and its schema',
  keywords: keywordList(`
      discover tools, list tools, which tool to use, what can you do, capabilities, available commands, tool
      schemas, choose a tool for a task, what can this server do, what can this thing do, cmds, features,
      functionality, command palette, menu, tools menu, overview of the server, abilities, operations on offer
      and the input they expect, which operations do you offer, toolbox, find action, Ctrl+Shift+A, tool
      catalog, tool discovery, MCP, right tool for the job, best tool for, tool names, safety levels of tools,
      which tools are safe, tools that only look, tools that change something, is there a tool that, search
      tools by keyword, how do I ask you, what is possible here, getting started, M-x, C-h m, describe-mode,
      help for this server, need help, tool list, show tools, --help, man -k, whatis, F1, Ctrl+Shift+P, quick
      access, introduce yourself, parameters of a tool, input schema of a tool, how to call a tool, tools for
      files, tools for debugging, tools by category, token cost of tools, read-only tools, tools that need
      approval, how can you help me, what functions does this server offer, list all your tools, tool
      documentation, any tool for, suitable tool, tool to rename a function, describe your capabilities, what
      else can you do, functions of this server, which functions do you have, which commands exist, list of
      commands, list of features, what do you support, do you support, are you able to, can you do, is there a
      command for, command list, command reference, API of this server, MCP tools, tools/list, all features,
      find a command, look up a tool, tool finder, which tool opens, which tool shows, which of your tools, your
      tools, what tools are there, full list of abilities, list of abilities, menu with everything, main menu,
      man pages, info, usage, manual of the server, tour, I know nothing about this server, just connected,
      appropriate tool, best suited tool, tool before a refactoring, which tools exist, what are your functions,
      tool for seeing, tool for finding, tool to look into code, what tools can edit files, search tool, find
      the right tool, tools of the mcp server, capabilities of the server, tool for, what could you do for me,
      list of tools with descriptions, show the schema of a tool, schema of, command overview, I need a tool`),
  alwaysLoad: true,
  handler: async (args, { forData }) => {
    const asked: SearchToolsArgs = args;
    const data = forData ? executeSearchTools({ limit: 0, ...asked }) : fitting(executeSearchTools(asked));
    return { data, text: JSON.stringify(data), structured: true };
  },
});

/** Returns what search_tools answers to ARGS over CATALOG (S1.5 to S1.11, S1.15). Throws a CallError that names
 *  the argument that is wrong (S1.17). */
export function executeSearchTools(
  args: SearchToolsArgs = {},
  catalog: ReadonlyMap<string, ToolMetadata> = TOOL_CATALOG,
): SearchToolsResult {
  const options: ToolSearchOptions = validateArguments(
    { name: 'search_tools', parameters: PARAMETERS, required: [] },
    args,
  );
  const { limit, query } = options;
  if (limit !== undefined && !(Number.isSafeInteger(limit) && limit >= 0)) {
    throw new CallError(`Parameter 'limit' must be a whole number from 1, or 0 for no limit, not ${limit}.`);
  }
  if (query !== undefined && query.length > QUERY_LIMIT) {
    throw new CallError(
      `Parameter 'query' must have at most ${QUERY_LIMIT} characters, not ${query.length}; a few words are enough.`,
    );
  }
  const result = searchTools(options, catalog);
  return {
    success: true,
    tools: result.tools.map((tool) => ({
      name: tool.name,
      description: tool.shortDescription,
      category: tool.category,
      complexity: tool.complexity,
      hasCEMCPDirective: tool.hasCEMCPDirective,
      tokenCost: tool.tokenCost,
      ...(tool.match && { match: tool.match }),
      ...(tool.inputSchema && { inputSchema: tool.inputSchema }),
    })),
    summary: {
      totalFound: result.totalCount,
      totalInCatalog: getCatalogSummary(catalog).totalTools,
      byCategory: result.categories,
    },
    ...(query !== undefined && { query }),
    ...(options.cemcpOnly && { note: FROM_CODE }),
  };
}

/** Returns the definition of search_tools as MCP lists it (S1.1). */
export function getSearchToolsDefinition(): McpTool {
  return toMCPTool(metadataOf(SEARCH_TOOLS));
}

/** Returns RESULT with as many of its tools as one answer has room for, and a note when not all have (C13). */
function fitting(result: SearchToolsResult): SearchToolsResult {
  let room = JSON_LIMIT - JSON.stringify({ ...result, tools: [] }).length;
  const end = result.tools.findIndex((tool) => {
    room -= JSON.stringify(tool).length + 1;
    return room < 0;
  });
  if (end === -1) return result;
  const note = `Only the first ${end} of ${result.tools.length} tools have room in one answer; narrow the search with query or category, or leave includeSchema out.`;
  return {
    ...result,
    tools: result.tools.slice(0, end),
    note: [note, result.note].filter(Boolean).join(' '),
  };
}
