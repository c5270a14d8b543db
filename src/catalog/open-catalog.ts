// Keeps a searchable catalog of any tools, not only registered ones. A program or a file fills it.

import { CallError, messageOf } from '../errors.ts';
import { isObject } from '../json.ts';
import { firstSentence } from '../kernel/tool.ts';
import {
  schemaCost,
  TOOL_CATEGORIES,
  type TokenCost,
  type ToolCategory,
  type ToolMetadata,
} from './metadata.ts';
import { keyOf, Ranking } from './ranking.ts';

/** A tool as other programs describe it, such as MCP's own Tool. */
export interface ForeignTool {
  name: string;
  description?: string;
  inputSchema?: object;
  keywords?: readonly string[];
  category?: string;
  server?: string;
  /** The unique key of the tool. By default SERVER/NAME, or the name alone without a server. */
  id?: string;
}

/** Tools by id. They can be added, replaced and deleted one by one. */
export class OpenCatalog extends Map<string, ToolMetadata> {
  #ranking: Ranking | undefined;

  get ranking(): Ranking {
    this.#ranking ??= new Ranking(this.values());
    return this.#ranking;
  }

  override set(_id: string, tool: ToolMetadata): this {
    this.#ranking = undefined;
    return super.set(keyOf(tool), tool);
  }

  override delete(id: string): boolean {
    this.#ranking = undefined;
    return super.delete(id);
  }

  override clear(): void {
    this.#ranking = undefined;
    super.clear();
  }

  /** Adds TOOL, or replaces the one with its id. Returns its entry. Throws a CallError for an invalid
   *  TOOL. */
  add(tool: ForeignTool): ToolMetadata {
    const metadata = foreignMetadata(tool);
    this.set(keyOf(metadata), metadata);
    return metadata;
  }
}

/** Parses TEXT, which has one tool in JSON on each line, as a catalog. Of two tools with the same id the
 *  later one is kept. Throws a CallError that names the first invalid line. */
export function readCatalog(text: string): OpenCatalog {
  const catalog = new OpenCatalog();
  // Some editors begin a file with a byte order mark.
  const lines = text.replace(/^\ufeff/, '').split('\n');
  lines.forEach((line, index) => {
    if (line.trim() === '') return;
    try {
      catalog.add(JSON.parse(line));
    } catch (error) {
      const reason = messageOf(error).replace(/\.?$/, '.');
      throw new CallError(
        `Line ${index + 1} of the catalog is no tool: ${reason} Each line must be JSON such as {"name": "get_weather", "description": "Tell the weather."}.`,
      );
    }
  });
  return catalog;
}

/** One empty list shared by all tools, since there can be many. */
const NONE: readonly string[] = [];

function foreignMetadata(tool: ForeignTool): ToolMetadata {
  const {
    name,
    description = '',
    inputSchema = {},
    keywords = NONE,
    category = '',
    server,
    id,
  } = validated(tool);
  const knownCategory = TOOL_CATEGORIES.find((known) => known === category);
  const { properties, type } = inputSchema as { properties?: object; type?: string };
  const cost = costOf(description, inputSchema);
  const key = id || (server ? `${server}/${name}` : name);
  return Object.freeze({
    name,
    shortDescription: firstSentence(description),
    fullDescription: description,
    category: knownCategory ?? ('utility' satisfies ToolCategory),
    categories: category === '' ? NONE : [category],
    complexity: 'simple',
    tokenCost: cost,
    hasCEMCPDirective: false,
    keywords,
    words: NONE,
    ...(server !== undefined && { server }),
    ...(key !== name && { id: key }),
    safetyLevel: 'cautious',
    alwaysLoad: false,
    inputSchema: (properties && type === 'object'
      ? inputSchema
      : { ...inputSchema, type: 'object', properties: properties ?? {} }) as ToolMetadata['inputSchema'],
  });
}

const PROPERTIES = ['name', 'description', 'inputSchema', 'keywords', 'category', 'server', 'id'] as const;

/** Returns the properties of TOOL that a search reads, null as absent. Throws a CallError for a wrong one. */
function validated(tool: ForeignTool): ForeignTool {
  if (!isObject(tool)) throw new CallError('It must be an object.');
  const fields = Object.fromEntries(
    PROPERTIES.map((property) => [property, tool[property] ?? undefined]),
  ) as unknown as ForeignTool;
  if (!fields.name) throw new CallError('It must have a name.');
  for (const property of ['name', 'description', 'category', 'server', 'id'] as const) {
    if (!['string', 'undefined'].includes(typeof fields[property])) {
      throw new CallError(`Its ${property} must be a string.`);
    }
  }
  const { keywords = [], inputSchema = {} } = fields;
  if (!Array.isArray(keywords) || keywords.some((keyword) => typeof keyword !== 'string')) {
    throw new CallError('Its keywords must be a list of strings.');
  }
  const { properties = {} } = inputSchema as { properties?: unknown };
  if (!isObject(inputSchema) || !isObject(properties)) {
    throw new CallError('Its inputSchema must be an object, and so must inputSchema.properties.');
  }
  return fields;
}

/** Returns the token cost of a definition. Throws a CallError when SCHEMA cannot be written as JSON. */
function costOf(description: string, schema: object): TokenCost {
  try {
    return schemaCost(description, schema);
  } catch (error) {
    throw new CallError(`Its inputSchema must be JSON: ${messageOf(error).split('\n')[0]}.`);
  }
}
