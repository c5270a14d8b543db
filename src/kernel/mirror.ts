// Keeps the tools that an image has made, and the names under which clients see them.

import { CallError } from '../errors.ts';
import { checkTool, type Tool } from './tool.ts';

/** Maximum number of tools that an image can have. */
const LIMIT = 200;

export class Mirror {
  readonly #isTaken: (name: string) => boolean;
  readonly #onChange: () => void;
  /** The tools as clients see them, by the image's own names. */
  readonly #tools = new Map<string, Tool>();

  /** IS_TAKEN says whether a tool of the server has a name. ON_CHANGE is called after each change. */
  constructor(isTaken: (name: string) => boolean, onChange: () => void) {
    this.#isTaken = isTaken;
    this.#onChange = onChange;
  }

  /** Returns the tools, in the order of their first registration. */
  tools(): Tool[] {
    return [...this.#tools.values()];
  }

  /** Adds TOOL, replacing the image's tool of the same name (C19). Returns TOOL under the name that clients
   *  see: if a tool of the server has that name, TOOL gets the prefix lisp_, so that it cannot be mistaken
   *  for the server's tool. Throws a CallError when TOOL is invalid or the image already has LIMIT tools. */
  add(tool: Tool): Tool {
    checkTool(tool);
    if (this.#tools.size >= LIMIT && !this.#tools.has(tool.name)) {
      throw new CallError(
        `Tool ${JSON.stringify(tool.name)} is one too many: an image can have ${LIMIT} tools of its own. Give the new tool the name of one that is not needed any more.`,
      );
    }
    const shownTool = this.#underFreeName(tool.name, tool);
    this.#tools.set(tool.name, shownTool);
    this.#onChange();
    return shownTool;
  }

  /** Gives the tool that clients see as NAME another name, because a tool of the server now takes NAME. */
  giveWay(name: string): void {
    for (const [own, tool] of this.#tools) {
      if (tool.name === name) this.#tools.set(own, this.#underFreeName(own, tool));
    }
  }

  /** Removes all tools, because the image is gone. */
  clear(): void {
    if (this.#tools.size === 0) return;
    this.#tools.clear();
    this.#onChange();
  }

  /** Returns TOOL, which the image calls OWN, under a name that is free. */
  #underFreeName(own: string, tool: Tool): Tool {
    const others = [...this.#tools].filter(([other]) => other !== own).map(([, { name }]) => name);
    let name = own;
    while (this.#isTaken(name) || others.includes(name)) name = `lisp_${name}`;
    return name === tool.name ? tool : Object.freeze({ ...tool, name });
  }
}
