// Holds the registered tools by name.

import { CallError } from '../errors.ts';
import { Mirror } from './mirror.ts';
import { nearest } from './nearest.ts';
import { kindOf, printable } from './schema.ts';
import { checkTool, SAFETY_LEVELS, type SafetyLevel, type Tool } from './tool.ts';

export interface ToolFilter {
  maxSafetyLevel?: SafetyLevel;
  categories?: readonly string[];
}

export class ToolRegistry {
  readonly #tools = new Map<string, Tool>();
  readonly #uncounted = new Map<string, Tool>();
  /** The tools that code in the image has defined. They end with the image. */
  readonly mirror: Mirror;
  readonly #listeners = new Set<() => void>();
  #revision = 0;

  /** RESERVED are further names that a tool of the image may not have. */
  constructor(reserved: readonly string[] = []) {
    const isTaken = (name: string) =>
      this.#tools.has(name) || this.#uncounted.has(name) || reserved.includes(name);
    this.mirror = new Mirror(isTaken, () => this.#changed());
  }

  /** Number of changes of the tools so far. With it, data derived from the tools can be recognized as stale. */
  get revision(): number {
    return this.#revision;
  }

  /** Makes LISTENER be called after each change of the tools. Returns a function that ends this. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Adds TOOL and returns it. If a tool has the same name, TOOL takes its position. Throws a CallError when TOOL is
   * invalid. */
  register(tool: Tool): Tool {
    checkTool(tool);
    this.#uncounted.delete(tool.name);
    return this.#add(tool, this.#tools);
  }

  /** Adds TOOL as an uncounted tool, and returns it. If a counted tool has the same name, returns that one and adds
   * nothing. Clients can find and call uncounted tools, but the lists that the contract defines leave them out. */
  registerUncounted(tool: Tool): Tool {
    checkTool(tool);
    return this.#tools.get(tool.name) ?? this.#add(tool, this.#uncounted);
  }

  #add(tool: Tool, tools: Map<string, Tool>): Tool {
    tools.set(tool.name, tool);
    this.mirror.giveWay(tool.name);
    this.#changed();
    return tool;
  }

  #changed(): void {
    this.#revision += 1;
    for (const listener of this.#listeners) listener();
  }

  /** Returns the tool with exactly the name NAME, or null when there is none. */
  getTool(name: string): Tool | null {
    const own = this.#tools.get(name) ?? this.#uncounted.get(name);
    return own ?? this.mirror.tools().find((tool) => tool.name === name) ?? null;
  }

  /** Returns the names of the tools that `register` has added, in order of registration, and then those of the image's
   * tools. Leaves out uncounted tools (see `registerUncounted`). */
  listRegisteredTools(): string[] {
    return this.#counted().map(({ name }) => name);
  }

  /** Returns all tools in three groups: the counted tools, which `register` has added, the uncounted tools (see
   * `registerUncounted`), and the image's tools. Each group is in order of registration. */
  tools(): Tool[] {
    return [...this.#tools.values(), ...this.#uncounted.values(), ...this.mirror.tools()];
  }

  #counted(): Tool[] {
    return [...this.#tools.values(), ...this.mirror.tools()];
  }

  /** Returns the tools that FILTER accepts, without uncounted tools (see `registerUncounted`). FILTER accepts a tool if
   * its level is at most that in FILTER, and it has one of the categories in FILTER. A missing member of FILTER accepts
   * all tools. Throws a CallError for an unknown level or an invalid filter. */
  getAgentQTools(filter: ToolFilter = {}): Tool[] {
    if (typeof filter !== 'object' || filter === null) {
      throw new CallError(
        `The filter must be an object, such as { categories: ["xref"] }, not ${kindOf(filter)}.`,
      );
    }
    const { maxSafetyLevel = 'dangerous', categories = [] } = filter;
    if (!Array.isArray(categories)) {
      throw new CallError(`categories must be a list of names, such as ["xref"], not ${kindOf(categories)}.`);
    }
    const highest = SAFETY_LEVELS.indexOf(maxSafetyLevel);
    if (highest < 0) {
      throw new CallError(
        `Unknown safety level ${printable(String(maxSafetyLevel))}; valid are ${SAFETY_LEVELS.join(', ')}.`,
      );
    }
    return this.#counted().filter(
      (tool) =>
        SAFETY_LEVELS.indexOf(tool.safetyLevel) <= highest &&
        (categories.length === 0 || tool.categories.some((category) => categories.includes(category))),
    );
  }

  unknownTool(name: string): string {
    const similar = nearest(
      name.replaceAll('-', '_'),
      this.tools().map((tool) => tool.name),
    );
    const hint =
      similar.length > 0
        ? `Did you mean ${similar.join(', ')}?`
        : 'search_tools finds tools by what they do.';
    return `Unknown tool: ${printable(name)}. ${hint}`;
  }
}
