// Decides which tools there are, under which name.

import { CallError } from '../errors.ts';
import { nearest } from './nearest.ts';
import { printable } from './schema.ts';
import { checkTool, SAFETY_LEVELS, type SafetyLevel, type Tool, titleOf } from './tool.ts';

/** Which tools are wanted. */
export interface ToolFilter {
  maxSafetyLevel?: SafetyLevel;
  categories?: readonly string[];
}

/** How many tools an image can add. */
const MIRROR_LIMIT = 200;

export class ToolRegistry {
  readonly #reserved: readonly string[];
  readonly #tools = new Map<string, Tool>();
  /** The tools of the image as clients see them, by the names that they have there. */
  readonly #mirrored = new Map<string, Tool>();
  readonly #listeners = new Set<() => void>();
  #revision = 0;

  /** RESERVED are names that no tool of an image gets, besides those of the tools here. */
  constructor(reserved: readonly string[] = []) {
    this.#reserved = reserved;
  }

  /** How often the tools changed: what was derived from them is stale once this has changed. */
  get revision(): number {
    return this.#revision;
  }

  /** Calls LISTENER whenever the tools have changed, until the function that this returns is called. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Adds TOOL under its name and returns it; a tool of that name is replaced and keeps its place (S4.1).
   *  Throws a CallError when it is not valid (S4.2). */
  register(tool: Tool): Tool {
    checkTool(tool);
    this.#tools.set(tool.name, tool);
    for (const [name, mirrored] of this.#mirrored) {
      if (mirrored.name === tool.name) this.#mirrored.set(name, this.#renamed(name, mirrored));
    }
    this.#changed();
    return tool;
  }

  /** Adds TOOL, which lives in an image, and returns it as clients see it: with lisp_ before its name when a tool
   *  here has that, so that it cannot pose as that one. Of the same name it replaces the one of the image (C19).
   *  Throws a CallError when it is not valid or there are too many. */
  mirror(tool: Tool): Tool {
    checkTool(tool);
    if (this.#mirrored.size >= MIRROR_LIMIT && !this.#mirrored.has(tool.name)) {
      throw new CallError(
        `Tool ${JSON.stringify(tool.name)} is one too many: an image can have ${MIRROR_LIMIT} tools of its own. Give it the name of one that is not needed any more.`,
      );
    }
    const seen = this.#renamed(tool.name, tool);
    this.#mirrored.set(tool.name, seen);
    this.#changed();
    return seen;
  }

  /** Takes the tools of the image out, because it is gone (C19). */
  clearMirror(): void {
    if (this.#mirrored.size === 0) return;
    this.#mirrored.clear();
    this.#changed();
  }

  /** Returns TOOL, which the image calls NAME, under a name that no other tool has. */
  #renamed(name: string, tool: Tool): Tool {
    const others = [...this.#mirrored].filter(([other]) => other !== name).map(([, { name: seen }]) => seen);
    const taken = new Set([...this.#reserved, ...this.#tools.keys(), ...others]);
    let free = name;
    while (taken.has(free)) free = `lisp_${free}`;
    return free === tool.name ? tool : Object.freeze({ ...tool, name: free, title: titleOf(free) });
  }

  #changed(): void {
    this.#revision += 1;
    for (const listener of this.#listeners) listener();
  }

  /** Returns the tool of exactly that NAME, or null (S4.3). */
  getTool(name: string): Tool | null {
    return this.#tools.get(name) ?? [...this.#mirrored.values()].find((tool) => tool.name === name) ?? null;
  }

  /** Returns the names of all tools in the order of registration (S4.4). */
  listRegisteredTools(): string[] {
    return this.tools().map(({ name }) => name);
  }

  /** Returns all tools in the order of registration, those of the image last. */
  tools(): Tool[] {
    return [...this.#tools.values(), ...this.#mirrored.values()];
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
