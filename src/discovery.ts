// Exports the search for tools as functions for programs. By default they search in TOOL_CATALOG, the tools of this
// process.

import { TOOL_CATALOG } from './agent-q.ts';
import * as catalogs from './catalog/catalog.ts';
import * as lists from './catalog/list.ts';
import * as search from './catalog/search.ts';
import * as tool from './catalog/search-tools.ts';

/** Returns the tools of CATALOG that match OPTIONS. With a query they are sorted by score, otherwise by name. */
export function searchTools(
  options: search.ToolSearchOptions = {},
  catalog: search.Searchable = TOOL_CATALOG,
): search.ToolSearchResult {
  return search.searchCatalog(options, catalog);
}

/** Returns the answer of search_tools for ARGS, from the tools in CATALOG. Throws a CallError for a wrong argument. */
export function executeSearchTools(
  args: tool.SearchToolsArgs = {},
  catalog: search.Searchable = TOOL_CATALOG,
): tool.SearchToolsResult {
  return tool.answerSearchTools(args, catalog);
}

/** Returns the tools of CATALOG that tools/list gives in a list mode, by default lightweight. search_tools comes
 * first. */
export function getToolListForMCP(
  options: { mode?: lists.ListMode } = {},
  catalog: search.Searchable = TOOL_CATALOG,
): ReturnType<typeof lists.listedTools> {
  return lists.listedTools(options, catalog);
}

/** Returns the entries of the lightweight list for the tools of CATALOG, without search_tools, sorted by
 * name. */
export function getLightweightToolList(catalog: search.Searchable = TOOL_CATALOG): lists.LightweightTool[] {
  return lists.lightweightTools(catalog);
}

/** Returns the number of tools in CATALOG, in total and by category. */
export function getCatalogSummary(catalog: search.Searchable = TOOL_CATALOG): catalogs.CatalogSummary {
  return catalogs.catalogSummary(catalog);
}
