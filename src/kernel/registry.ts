// Decides which tools there are, under which name.

import { CallError } from '../errors.ts';
import { nearest } from './nearest.ts';
import { printable } from './schema.ts';
import { checkTool, SAFETY_LEVELS, type SafetyLevel, type Tool } from './tool.ts';

/** Which tools are wanted. */
export interface ToolFilter {
  maxSafetyLevel?: SafetyLevel;
  categories?: readonly string[];
}

export class ToolRegistry {
  readonly #tools = new Map<string, Tool>();
  #revision = 0;

  /** How often a tool was registered: what was derived from the tools is stale once this has changed. */
  get revision(): number {
    return this.#revision;
  }

  /** Adds TOOL under its name and returns it; a tool of that name is replaced and keeps its place (S4.1).
   *  Throws a CallError when it is not valid (S4.2). */
  register(tool: Tool): Tool {
    checkTool(tool);
    this.#tools.set(tool.name, tool);
    this.#revision += 1;
    return tool;
  }

  /** Returns the tool of exactly that NAME, or null (S4.3). */
  getTool(name: string): Tool | null {
    return this.#tools.get(name) ?? null;
  }

  /** Returns the names of all tools in the order of registration (S4.4). */
  listRegisteredTools(): string[] {
    return [...this.#tools.keys()];
  }

  /** Returns all tools in the order of registration. */
  tools(): Tool[] {
    return [...this.#tools.values()];
  }

  /** Returns the tools up to MAX_SAFETY_LEVEL that have one of CATEGORIES; what is absent, or no category, lets
   *  all pass (S4.5 to S4.7). Throws a CallError for an unknown level. */
  getAgentQTools({ maxSafetyLevel = 'dangerous', categories = [] }: ToolFilter = {}): Tool[] {
    const highest = SAFETY_LEVELS.indexOf(maxSafetyLevel);
    if (highest < 0) {
      throw new CallError(
        `Unknown safety level ${printable(String(maxSafetyLevel))}; valid are ${SAFETY_LEVELS.join(', ')}.`,
      );
    }
    return this.tools().filter(
      (tool) =>
        SAFETY_LEVELS.indexOf(tool.safetyLevel) <= highest &&
        (categories.length === 0 || tool.categories.some((each) => categories.includes(each))),
    );
  }

  /** Returns the sentences for a NAME that no tool has: what it was, and the names that look most like it. */
  unknownTool(name: string): string {
    const similar = nearest(name.replaceAll('-', '_'), this.listRegisteredTools());
    const hint =
      similar.length > 0
        ? `Did you mean ${similar.join(', ')}?`
        : 'search_tools finds tools by what they do.';
    return `Unknown tool: ${printable(name)}. ${hint}`;
  }
}
