// Holds the tools that code in an image has defined. Gives each a name for clients that no other tool has.

import { CallError } from '../errors.ts';
import { checkTool, type Tool } from './tool.ts';

const LIMIT = 200;

export class Mirror {
  readonly #isTaken: (name: string) => boolean;
  readonly #onChange: () => void;
  /** Maps the name of a tool in the image to the tool, renamed to the name that clients use. */
  readonly #tools = new Map<string, Tool>();

  /** IS_TAKEN returns true for the name of a tool of the server. ON_CHANGE is called after each change of the tools. */
  constructor(isTaken: (name: string) => boolean, onChange: () => void) {
    this.#isTaken = isTaken;
    this.#onChange = onChange;
  }

  /** Returns the tools, in the order of their first registration. */
  tools(): Tool[] {
    return [...this.#tools.values()];
  }

  /** Adds TOOL, or puts it in place of the image's tool with the same name. Returns TOOL under its name for clients. If
   * a tool of the server has the same name, TOOL gets the prefix lisp_, so that clients can distinguish them. Throws a
   * CallError when TOOL is invalid or the image already has LIMIT tools. */
  add(tool: Tool): Tool {
    checkTool(tool);
    if (this.#tools.size >= LIMIT && !this.#tools.has(tool.name)) {
      throw new CallError(
        `Tool ${JSON.stringify(tool.name)} was not added, because an image can have at most ${LIMIT} tools of its own. Give it the name of a tool that is no longer needed.`,
      );
    }
    const shownTool = this.#underFreeName(tool.name, tool);
    this.#tools.set(tool.name, shownTool);
    this.#onChange();
    return shownTool;
  }

  /** Renames the image's tool that clients know as NAME, because a tool of the server needs this name. */
  giveWay(name: string): void {
    for (const [own, tool] of this.#tools) {
      if (tool.name === name) this.#tools.set(own, this.#underFreeName(own, tool));
    }
  }

  clear(): void {
    if (this.#tools.size === 0) return;
    this.#tools.clear();
    this.#onChange();
  }

  /** Returns TOOL under a name that no other tool has. OWN is the name that the image gave TOOL. */
  #underFreeName(own: string, tool: Tool): Tool {
    const others = [...this.#tools].filter(([other]) => other !== own).map(([, { name }]) => name);
    let name = own;
    while (this.#isTaken(name) || others.includes(name)) name = `lisp_${name}`;
    return name === tool.name ? tool : Object.freeze({ ...tool, name });
  }
}
