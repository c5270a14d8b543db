// Builds the catalog entry of a tool from its definition.

import { type InputSchema, inputSchema } from '../kernel/schema.ts';
import type { Complexity, Effects, SafetyLevel, Tool } from '../kernel/tool.ts';
import { TOKEN_COSTS } from './token-costs.ts';
import WORDS from './words.json' with { type: 'json' };

/** The categories in the catalog. Each tool has exactly one. */
export const TOOL_CATEGORIES = [
  'analysis',
  'adr',
  'content-security',
  'research',
  'deployment',
  'memory',
  'file-system',
  'rules',
  'workflow',
  'utility',
] as const;
export type ToolCategory = (typeof TOOL_CATEGORIES)[number];

/** The categories in the registry, by which a search can be filtered. A tool can have several. */
const REGISTRY_CATEGORIES = [
  'introspection',
  'execution',
  'buffer',
  'diff',
  'xref',
  'clos',
  'packages',
] as const;

export const CATEGORY_FILTERS = [...TOOL_CATEGORIES, ...REGISTRY_CATEGORIES] as const;
export type CategoryFilter = (typeof CATEGORY_FILTERS)[number];

const CATALOG_CATEGORY: ReadonlyMap<string, ToolCategory> = new Map<string, ToolCategory>([
  ...TOOL_CATEGORIES.map((category) => [category, category] as const),
  ['introspection', 'analysis'],
  ['xref', 'analysis'],
  ['clos', 'analysis'],
  ['packages', 'analysis'],
  ['execution', 'workflow'],
  ['buffer', 'file-system'],
  ['diff', 'file-system'],
  ['discovery', 'utility'],
  ['settings', 'utility'],
]);

/** Maps the name of a built-in tool to further words for search_tools, which clients do not see. */
const SEARCH_WORDS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries(WORDS).map(([name, line]) => [name, line.split(' ')]),
);

/** Number of tokens of a tool's definition together with its smallest answer (`min`) or its largest typical answer
 * (`max`). */
export interface TokenCost {
  min: number;
  max: number;
}

export interface ToolMetadata {
  readonly name: string;
  readonly shortDescription: string;
  readonly fullDescription: string;
  readonly category: ToolCategory;
  readonly categories: readonly string[];
  readonly complexity: Complexity;
  readonly tokenCost: Readonly<TokenCost>;
  /** True when code in the image can call the tool as a function. */
  readonly hasCEMCPDirective: boolean;
  /** The keywords of the tool. The best come first. */
  readonly keywords: readonly string[];
  /** Further words, which only the ranking uses. */
  readonly words: readonly string[];
  /** The name of the tool's MCP server, in a catalog of several servers. */
  readonly server?: string;
  /** The unique key of the tool, if its name is not unique in a catalog of several servers. */
  readonly id?: string;
  readonly safetyLevel: SafetyLevel;
  /** The level that the tool's author declared, when the server applies a higher level. */
  readonly declaredLevel?: SafetyLevel;
  readonly effects?: Partial<Effects>;
  readonly alwaysLoad: boolean;
  readonly inputSchema: InputSchema;
}

/** Returns the catalog entry for TOOL, under the name NAME. */
export function metadataOf(tool: Tool, name = tool.name): ToolMetadata {
  const schema = deepFreeze(inputSchema(tool));
  return Object.freeze({
    name,
    shortDescription: tool.shortDescription,
    fullDescription: tool.description,
    category: tool.categories.map((category) => CATALOG_CATEGORY.get(category)).find(Boolean) ?? 'utility',
    categories: tool.categories,
    complexity: tool.complexity,
    tokenCost: measuredCost(tool.name) ?? schemaCost(tool.description, schema),
    hasCEMCPDirective: tool.safetyLevel !== 'dangerous' && !tool.refusesCode,
    keywords: tool.keywords,
    words: SEARCH_WORDS.get(tool.name) ?? [],
    safetyLevel: tool.safetyLevel,
    ...(tool.declaredLevel && { declaredLevel: tool.declaredLevel }),
    ...(tool.effects && { effects: tool.effects }),
    alwaysLoad: tool.alwaysLoad,
    inputSchema: schema,
  });
}

function measuredCost(name: string): TokenCost | undefined {
  return Object.hasOwn(TOKEN_COSTS, name) ? TOKEN_COSTS[name] : undefined;
}

/** Freezes VALUE and all objects in it, so that no caller can change it for others, and returns it. */
function deepFreeze<Value extends object>(value: Value): Value {
  for (const member of Object.values(value))
    if (typeof member === 'object' && member !== null) deepFreeze(member);
  return Object.freeze(value);
}

/** Estimates the token cost of a tool without measured answers: one token for each 4 characters of DESCRIPTION and of
 * SCHEMA as JSON. */
export function schemaCost(description: string, schema: object): TokenCost {
  const tokens = Math.ceil((description.length + JSON.stringify(schema).length) / 4);
  return { min: tokens, max: tokens };
}
