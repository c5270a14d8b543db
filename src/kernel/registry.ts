// Decides which tools there are, under which name.

import { nearest } from './nearest.ts';
import { printable } from './schema.ts';
import { checkTool, type Tool } from './tool.ts';

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
    this.#tools.set(tool.name, checkTool(tool));
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
