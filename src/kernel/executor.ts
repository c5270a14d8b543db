// Decides the way of one call: find, validate, decide, run, outcome. It never throws.

import { CallError, ImageError, messageOf, SetupError } from '../errors.ts';
import { type AskPolicy, decide } from './decision.ts';
import type { ToolRegistry } from './registry.ts';
import { boundText } from './reply.ts';
import { printable, validateArguments } from './schema.ts';
import type { CallContext, Result, Tool } from './tool.ts';

/** What became of a call. NOTICES are what its reader must know besides, told once. */
export type Outcome = { notices: string[] } & (
  | { success: true; text: string; data: unknown; structured?: boolean }
  | { success: false; error: string; data?: unknown }
);

export interface ExecutorOptions {
  ask?: AskPolicy;
  /** Returns, once, what happened since the last outcome. */
  takeNotices?: () => string[];
}

export class Executor {
  readonly #registry: ToolRegistry;
  readonly #options: ExecutorOptions;

  constructor(registry: ToolRegistry, options: ExecutorOptions = {}) {
    this.#registry = registry;
    this.#options = options;
  }

  /** Calls the tool NAME with ARGS as they came. Every failure is an outcome (S2.9, S4.13). */
  async execute(name: string, args: unknown, context: CallContext = {}): Promise<Outcome> {
    const outcome = await this.#run(name, args, context);
    // What is to be told waits for the next answer when nobody reads this one, or some clients only its structure.
    const waits = context.signal?.aborted || (outcome.success && outcome.structured);
    return { ...outcome, notices: waits ? [] : (this.#options.takeNotices?.() ?? []).map(boundText) };
  }

  /** Calls the tool NAME as execute does, for code that a call runs: notices wait for an answer that a
   *  model reads. */
  async executeForCode(name: string, args: unknown, context: CallContext = {}): Promise<Outcome> {
    return { ...(await this.#run(name, args, context)), notices: [] };
  }

  async #run(name: string, args: unknown, context: CallContext): Promise<Omit<Outcome, 'notices'> & Settled> {
    const tool = this.#registry.getTool(name);
    if (tool === null) return failure(`Unknown tool: ${printable(name)}`);
    try {
      const given = validateArguments(tool, args);
      if (decide(tool.safetyLevel, this.#options.ask ?? 'dangerous') === 'ask') return refusal(tool);
      return settle(await tool.handler(given, context));
    } catch (error) {
      return failure(errorText(error));
    }
  }
}

type Settled =
  | { success: true; text: string; data: unknown; structured?: boolean }
  | { success: false; error: string; data?: unknown };

function settle({ text, data, failed, structured }: Result): Settled {
  const bounded = boundText(text);
  if (failed) return { success: false, error: bounded, data };
  return { success: true, text: bounded, data, ...(structured && { structured }) };
}

function failure(error: string): Settled {
  return { success: false, error: boundText(error) };
}

function refusal(tool: Tool): Settled {
  return failure(
    `Tool ${tool.name} is ${tool.safetyLevel}: it needs a human's approval, and this server cannot ask for one. Nothing was done.`,
  );
}

function errorText(error: unknown): string {
  const ours = error instanceof CallError || error instanceof SetupError || error instanceof ImageError;
  return ours ? error.message : `Tool error: ${messageOf(error)}`;
}
