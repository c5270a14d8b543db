// Defines the tool search_tools: its description, its arguments and its answer.

import { CallError } from '../errors.ts';
import { JSON_LIMIT } from '../kernel/reply.ts';
import { readArguments } from '../kernel/schema.ts';
import {
  COMPLEXITIES,
  type Complexity,
  defineTool,
  type Tool,
  type ToolDescription,
} from '../kernel/tool.ts';
import { type McpTool, toMCPTool } from './mcp-tool.ts';
import { CATEGORY_FILTERS, metadataOf, type ToolCategory, type ToolMetadata } from './metadata.ts';
import { QUERY_LIMIT } from './request.ts';
import { type Searchable, searchCatalog, type ToolSearchOptions } from './search.ts';

export type SearchToolsArgs = ToolSearchOptions;

/** A tool in the answer of search_tools to a client. */
export interface FoundTool {
  name: string;
  /** The id of the tool; absent when it is the name. In a catalog of several servers, tools can share a name. */
  id?: string;
  description: string;
  category: ToolCategory;
  complexity: Complexity;
  /** True when code in the image can call the tool as a function. */
  hasCEMCPDirective: boolean;
  tokenCost: { min: number; max: number };
  /** Absent when the tool contains the query word for word. `weak` when the tool covers little of the query's
   * subject. */
  match?: 'ranked' | 'weak';
  inputSchema?: ToolMetadata['inputSchema'];
}

export interface SearchToolsResult {
  success: true;
  tools: FoundTool[];
  /** Names or ids of the best tools that exceed the limit. */
  more?: string[];
  summary: {
    /** Number of tools that were found, including those beyond the limit. */
    totalFound: number;
    totalInCatalog: number;
    byCategory: Record<ToolCategory, number>;
  };
  query?: string;
  /** Sentences for the model. They say that all matches are weak or that nothing was found, and how to get the tools
   * that did not fit into the answer. With cemcpOnly, they also say how code in the image calls the tools. */
  note?: string;
}

const FROM_CODE =
  'Code in the image can call these tools: (live-lisp:call-tool "NAME" :parameter value ...) returns the data, in full if no limit is given. One eval_form that calls tools and filters their data costs fewer tokens than separate tool calls.';

const ALL_WEAK =
  'All matches are weak: they share only some words with the query, so look at one before you call it.';
const NOTHING_FOUND =
  'No tool matches any word of the query: say in other words what the tool should do, or leave query out to list the tools.';

/** The definition of search_tools for clients. */
export const SEARCH_TOOLS = {
  name: 'search_tools',
  description:
    'Search and discover available tools by category, keyword, or capability. Use this to find the right tool for a task without loading all tool schemas. Returns lightweight tool metadata by default; use includeSchema:true for full schemas.',
  parameters: [
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
    {
      name: 'limit',
      type: 'number',
      description: 'Maximum number of tools to return',
      default: 20,
      // The handler returns all tools to code that sets no limit. For a model, searchCatalog applies the default.
      defaultOnlyDocumented: true,
    },
  ],
  required: [],
  categories: ['discovery'],
  shortDescription: 'Find the right tool for a task, and its schema',
  keywords: [
    'discover tools',
    'list tools',
    'which tool to use',
    'what can you do',
    'capabilities',
    'available commands',
    'tool schemas',
    'choose a tool for a task',
  ],
} as const satisfies ToolDescription;

/** Returns the tool search_tools. Each call of the tool searches in the catalog that CATALOG returns at that time. */
export function searchToolsTool(catalog: () => Searchable): Tool {
  return defineTool({
    ...SEARCH_TOOLS,
    images: 'any',
    handler: async (args, { forData }) => {
      const data = forData
        ? answerSearchTools({ limit: 0, ...args }, catalog())
        : fitToAnswer(answerSearchTools(args, catalog()));
      return { data, text: JSON.stringify(data), structured: true };
    },
  });
}

/** Returns the answer of search_tools for ARGS, from the tools in CATALOG. Throws a CallError for a wrong argument.
 * Also called without a tool call, so ARGS may be unchecked. */
export function answerSearchTools(args: SearchToolsArgs, catalog: Searchable): SearchToolsResult {
  const options = readArguments(SEARCH_TOOLS, args);
  const { limit, query } = options;
  if (limit !== undefined && !(Number.isSafeInteger(limit) && limit >= 0)) {
    throw new CallError(`Parameter 'limit' must be a whole number from 1, or 0 for no limit, not ${limit}.`);
  }
  if (query !== undefined && query.length > QUERY_LIMIT) {
    throw new CallError(
      `Parameter 'query' must have at most ${QUERY_LIMIT} characters, not ${query.length}; a few words are enough.`,
    );
  }
  const result = searchCatalog(options, catalog);
  const allWeak = result.tools.length > 0 && result.tools.every(({ match }) => match === 'weak');
  const foundNothing = query?.trim() && result.totalCount === 0 && catalog.size > 0 && !isFiltered(options);
  const notes = [allWeak && ALL_WEAK, foundNothing && NOTHING_FOUND, options.cemcpOnly && FROM_CODE].filter(
    Boolean,
  );
  return {
    success: true,
    tools: result.tools.map((tool) => ({
      name: tool.name,
      ...(tool.id && { id: tool.id }),
      description: tool.shortDescription,
      category: tool.category,
      complexity: tool.complexity,
      hasCEMCPDirective: tool.hasCEMCPDirective,
      tokenCost: tool.tokenCost,
      ...(tool.match && { match: tool.match }),
      ...(tool.inputSchema && { inputSchema: tool.inputSchema }),
    })),
    ...(result.more && { more: result.more }),
    summary: {
      totalFound: result.totalCount,
      totalInCatalog: catalog.size,
      byCategory: result.categories,
    },
    ...(query !== undefined && { query }),
    ...(notes.length > 0 && { note: notes.join(' ') }),
  };
}

function isFiltered({ category, complexity, cemcpOnly }: ToolSearchOptions): boolean {
  return category !== undefined || complexity !== undefined || cemcpOnly === true;
}

/** Returns the definition of search_tools for MCP. If ALWAYS_LOAD is true, clients load the tool at their start. */
export function getSearchToolsDefinition(alwaysLoad = false): McpTool {
  return toMCPTool({ ...metadataOf(searchToolsTool(() => new Map())), alwaysLoad });
}

/** Returns RESULT with as many tools as fit into one answer. A note says when some are missing. */
function fitToAnswer(result: SearchToolsResult): SearchToolsResult {
  let charactersLeft = JSON_LIMIT - JSON.stringify({ ...result, tools: [] }).length;
  const end = result.tools.findIndex((tool) => {
    charactersLeft -= JSON.stringify(tool).length + 1;
    return charactersLeft < 0;
  });
  if (end === -1) return result;
  const note = `Only the first ${end} of ${result.tools.length} tools have room in one answer; narrow the search with query or category, or leave includeSchema out.`;
  return {
    ...result,
    tools: result.tools.slice(0, end),
    note: [note, result.note].filter(Boolean).join(' '),
  };
}
