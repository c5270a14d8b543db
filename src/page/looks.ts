// Lists the tools that the page can call to look at the session, and calls them.

import { messageOf } from '../errors.ts';
import type { Members } from '../json.ts';
import type { Executor } from '../kernel/executor.ts';

/** Maps the name of a look, a request of the page, to the tool that the look calls and to the arguments that the page
 * can give. */
const LOOKS: { readonly [name: string]: { tool: string; takes: readonly string[] } } = {
  status: { tool: 'image_status', takes: [] },
  interrupt: { tool: 'interrupt', takes: ['job'] },
  errors: { tool: 'debug', takes: [] },
  error: { tool: 'debug', takes: ['error', 'frame'] },
  definition: { tool: 'read_definition', takes: ['name', 'package'] },
  callers: { tool: 'who_calls', takes: ['name', 'package'] },
  log: { tool: 'get_audit_log', takes: ['outcome', 'tool', 'limit', 'offset'] },
};

type Look = { data: unknown; text: string } | { error: string };

/** Performs the page's request NAME, one of LOOKS, with arguments from ASKED. Returns the answer; undefined when LOOKS
 * has no such request. The human at the page makes the call of the tool, so nobody is asked for approval. */
export async function look(
  executor: Pick<Executor, 'execute'>,
  name: string,
  asked: Members,
  signal: AbortSignal,
): Promise<Look | undefined> {
  const found = Object.hasOwn(LOOKS, name) ? LOOKS[name] : undefined;
  if (found === undefined) return undefined;
  const { tool, takes } = found;
  const given = [...takes, 'image'].filter((key) => asked[key] !== undefined);
  const args = Object.fromEntries(given.map((key) => [key, asked[key]]));
  try {
    const outcome = await executor.execute(tool, args, { signal, page: true }, { kind: 'approved' });
    return outcome.success ? { data: outcome.data, text: outcome.text } : { error: outcome.error };
  } catch (error) {
    return { error: messageOf(error) };
  }
}
