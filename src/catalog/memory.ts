// Records pairs of a search request and the tool that was called after it, so that later searches can use
// them.

import type { EndedCall } from '../kernel/executor.ts';
import { type PastSearches, registeredName } from './catalog.ts';
import { SEARCH_TOOLS } from './search-tools.ts';

/** A request, and the tool called after it. */
export interface ServedRequest {
  query: string;
  tool: string;
}

/** Where served requests are stored. */
export interface RequestStore {
  /** Returns the stored requests, the newest first. */
  newestFirst(): Iterable<ServedRequest>;
  /** Stores SERVED. */
  add(served: ServedRequest): void;
}

/** Maximum number of requests that are remembered for a tool, and of characters of each. */
const MOST_REQUESTS = 40;
const REQUEST_LIMIT = 300;
/** Maximum number of searches that a later call can be assigned to: a model that does not find its tool at
 *  once searches again. */
const OPEN_LIMIT = 5;

const NONE: readonly string[] = [];

/** The past searches of a workspace. Only calls of clients count, since code can search and call without end. */
export class SearchMemory implements PastSearches {
  readonly #store: RequestStore;
  /** The requests of each tool, the newest first; loaded when first needed. */
  #requests: Map<string, readonly string[]> | undefined;
  /** The searches since the last call, each with the tools that it listed. */
  #openSearches: { query: string; tools: ReadonlySet<string> }[] = [];

  constructor(store: RequestStore) {
    this.#store = store;
  }

  requestsFor(name: string): readonly string[] {
    return this.#requestsByTool.get(name) ?? NONE;
  }

  get #requestsByTool(): Map<string, readonly string[]> {
    if (this.#requests !== undefined) return this.#requests;
    this.#requests = new Map();
    for (const { query, tool } of this.#store.newestFirst()) {
      const known = this.requestsFor(tool);
      if (isNew(query, known)) this.#requests.set(tool, [...known, query]);
    }
    return this.#requests;
  }

  /** Learns from CALL, which has ended: a search, or a call of a tool that open searches listed. */
  ended({ tool, args, success, data }: EndedCall): void {
    if (!success) return;
    if (tool === SEARCH_TOOLS.name) {
      const { query } = (args ?? {}) as { query?: unknown };
      if (typeof query === 'string' && query.trim() !== '') this.#searched(query, data);
      return;
    }
    const open = this.#openSearches;
    this.#openSearches = [];
    for (const { query, tools } of open) if (tools.has(tool)) this.#served({ query, tool });
  }

  /** Remembers that a search for QUERY was answered with DATA. */
  #searched(query: string, data: unknown): void {
    const { tools = [], more = [] } = (data ?? {}) as { tools?: { name: string }[]; more?: string[] };
    const names = [...tools.map(({ name }) => name), ...more].map(registeredName);
    this.#openSearches = [
      ...this.#openSearches,
      { query: query.slice(0, REQUEST_LIMIT), tools: new Set(names) },
    ].slice(-OPEN_LIMIT);
  }

  #served(served: ServedRequest): void {
    const known = this.requestsFor(served.tool);
    if (known.includes(served.query) || served.query === served.tool) return;
    this.#requestsByTool.set(served.tool, [served.query, ...known].slice(0, MOST_REQUESTS));
    this.#store.add(served);
  }
}

/** True when QUERY should be added to KNOWN, the remembered requests of a tool. */
function isNew(query: string, known: readonly string[]): boolean {
  return known.length < MOST_REQUESTS && !known.includes(query);
}
