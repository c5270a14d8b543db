// What the scripted model does: a list of calls of our tools, each looked for until the client lets it through.

import type { Action, Asked } from './dialects.ts';
import type { Wire } from './wire.ts';

/** A call that the model makes. */
export interface Step {
  tool: string;
  args: object;
}

/** What became of a step. */
export interface Went {
  /** The client sent it to our server. */
  sent: boolean;
  /** How often the model was asked until then, from the first time. */
  turn: number;
  /** What the model read of it. */
  read: string;
}

/** How a client names our tools to its model. */
export interface Naming {
  name: (tool: string) => string;
  /** Codex puts the tools of a server into a namespace. */
  namespace?: string;
  /** The JavaScript that calls TOOL with ARGS, where the model can only run such. */
  code?: (tool: string, args: object) => string;
  /** What finds TOOL in the client's own search, when it has one. */
  search?: (tool: string) => string;
}

/** How often a step is tried. Between two tries the model looks for the tool, or waits where there is no search. */
const TRIES = 4;
const WAIT_MS = 1500;

/** The model's side of a conversation: STEPS in order, then a text. */
export class Script {
  readonly went: Went[] = [];
  readonly #steps: readonly Step[];
  readonly #naming: Naming;
  readonly #wire: Wire;
  /** What it did last, and in answer to what. */
  #last: { action: Action; asked: Asked } | undefined;
  #tries = 0;
  #turns = 0;

  constructor(steps: readonly Step[], naming: Naming, wire: Wire) {
    this.#steps = steps;
    this.#naming = naming;
    this.#wire = wire;
  }

  /** Whether all steps were made. */
  get done(): boolean {
    return this.went.length === this.#steps.length;
  }

  /** Returns what the model does next; the same again when it is asked the same again. */
  async next(asked: Asked): Promise<Action> {
    const last = this.#last;
    if (last?.asked.texts === asked.texts) return last.action;
    if (last?.action.kind === 'call' || last?.action.kind === 'code') {
      // A client may leave a call that its human cancelled out of the conversation.
      await this.#note(asked.calls > last.asked.calls ? asked.lastResult : '');
    }
    this.#turns += 1;
    const step = this.#steps[this.went.length];
    const action =
      step === undefined ? ({ kind: 'text', text: 'ALL DONE' } as const) : this.#towards(step, asked);
    this.#last = { action, asked };
    return action;
  }

  /** Notes that the model READ what became of its last call, unless it is to be tried again. */
  async #note(read: string): Promise<void> {
    const tool = this.#steps[this.went.length]?.tool;
    if (tool === undefined) return;
    const sent = this.#wire.calls(tool) > this.#sentBefore(tool);
    if (!sent && this.#tries < TRIES) {
      await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
      return;
    }
    this.went.push({ sent, turn: this.#turns, read });
    this.#tries = 0;
  }

  #sentBefore(tool: string): number {
    return this.went.filter(({ sent }, index) => sent && this.#steps[index]?.tool === tool).length;
  }

  #towards({ tool, args }: Step, asked: Asked): Action {
    const { name, namespace, code, search } = this.#naming;
    const searched = this.#last?.action.kind === 'search';
    const seen = asked.tools.some((each) => each.endsWith(name(tool)));
    if (!seen && search !== undefined && !searched) return { kind: 'search', query: search(tool) };
    this.#tries += 1;
    if (code !== undefined) return { kind: 'code', source: code(tool, args) };
    return { kind: 'call', name: name(tool), ...(namespace && { namespace }), args };
  }
}
