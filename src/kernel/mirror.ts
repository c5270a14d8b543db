// Decides which tools of an image there are, and under which names clients see them.

import { CallError } from '../errors.ts';
import { checkTool, type Tool, titleOf } from './tool.ts';

/** How many tools an image can have. */
const LIMIT = 200;

export class Mirror {
  readonly #taken: (name: string) => boolean;
  readonly #changed: () => void;
  /** The tools as clients see them, by the names that the image gives them. */
  readonly #tools = new Map<string, Tool>();

  /** TAKEN tells of a name whether a tool of the image must not have it; CHANGED is called after each change. */
  constructor(taken: (name: string) => boolean, changed: () => void) {
    this.#taken = taken;
    this.#changed = changed;
  }

  /** Returns the tools in the order in which they came. */
  tools(): Tool[] {
    return [...this.#tools.values()];
  }

  /** Adds TOOL and returns it as clients see it. When another tool has its name, it gets lisp_ before it, so that it
   *  cannot pose as that one. It replaces the one that the image had under its name (C19). Throws a CallError when it
   *  is not valid or one too many. */
  add(tool: Tool): Tool {
    checkTool(tool);
    if (this.#tools.size >= LIMIT && !this.#tools.has(tool.name)) {
      throw new CallError(
        `Tool ${JSON.stringify(tool.name)} is one too many: an image can have ${LIMIT} tools of its own. Give it the name of one that is not needed any more.`,
      );
    }
    const seen = this.#named(tool.name, tool);
    this.#tools.set(tool.name, seen);
    this.#changed();
    return seen;
  }

  /** Takes NAME from the tool that clients see under it, because it is taken now. */
  giveWay(name: string): void {
    for (const [own, tool] of this.#tools) {
      if (tool.name === name) this.#tools.set(own, this.#named(own, tool));
    }
  }

  /** Takes all tools out, because the image is gone. */
  clear(): void {
    if (this.#tools.size === 0) return;
    this.#tools.clear();
    this.#changed();
  }

  /** Returns TOOL, which the image calls OWN, under a name that no other tool has. */
  #named(own: string, tool: Tool): Tool {
    const others = [...this.#tools].filter(([other]) => other !== own).map(([, { name }]) => name);
    let name = own;
    while (this.#taken(name) || others.includes(name)) name = `lisp_${name}`;
    return name === tool.name ? tool : Object.freeze({ ...tool, name, title: titleOf(name) });
  }
}
