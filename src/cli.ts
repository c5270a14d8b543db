// Implements the commands call, tools and search, and writes the text of --help.

import type { Searchable } from './catalog/search.ts';
import { executeSearchTools } from './catalog/search-tools.ts';
import { messageOf, UsageError } from './errors.ts';
import { FLAGS } from './flags.ts';
import type { Executor } from './kernel/executor.ts';
import type { ToolRegistry } from './kernel/registry.ts';

type Print = (text: string) => void;

/** Calls the tool named in OPERANDS with the JSON arguments in OPERANDS, and prints the text of the answer.
 *  Returns the exit code: 0, or 1 when the call failed. Throws a UsageError for wrong operands. */
export async function callTool(
  executor: Executor,
  registry: ToolRegistry,
  operands: readonly string[],
  print: Print,
): Promise<number> {
  const [name, json = '{}', ...extraOperands] = operands;
  if (name === undefined || extraOperands.length > 0) {
    throw new UsageError(
      `The command call takes a tool's name and its arguments: live-lisp call NAME '{"json": ...}'.`,
    );
  }
  const tool = name.replaceAll('-', '_');
  if (registry.getTool(tool) === null) {
    throw new UsageError(`Unknown tool: ${name}; live-lisp tools lists them.`);
  }
  const outcome = await executor.execute(tool, parseArguments(json), { canAsk: false });
  print([outcome.success ? outcome.text : outcome.error, ...outcome.notices].join('\n\n'));
  return outcome.success ? 0 : 1;
}

function parseArguments(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new UsageError(`The tool's arguments must be JSON: ${messageOf(error)}.`);
  }
}

/** Returns the list of all tools, with their names, levels and short descriptions. */
export function toolList(registry: ToolRegistry): string {
  const tools = registry.tools();
  const width = Math.max(...tools.map(({ name }) => name.length));
  return tools
    .map(
      ({ name, safetyLevel, shortDescription }) =>
        `${name.padEnd(width)}  ${safetyLevel.padEnd(9)}  ${shortDescription}`,
    )
    .join('\n');
}

/** Returns the text of --help. */
export function helpText(): string {
  const flags = FLAGS.map(({ name, value, help }) => {
    const usage = `--${name}${value === undefined ? '' : ` ${value}`}`;
    return `  ${usage.padEnd(24)} ${help}`;
  });
  return `live-lisp: an MCP server that gives a coding agent a live Common Lisp image

Usage: live-lisp [COMMAND] [FLAGS]

Commands:
  serve                    serve MCP on stdin and stdout (the default)
  call NAME '{"json":...}' call one tool and print its text; exit 1 when it failed
  tools                    list the tools
  search WORDS             print the tools that a search for WORDS finds
  doctor                   check the set-up; with --client, what that client has of it
  attach                   print the line by which your own image serves live-lisp, and which images serve
  dial [NAME]              pass the wire of an image that serves here on to a server elsewhere, over stdin and stdout
  install                  with --client, set that client up; else list the clients that are here
  uninstall                with --client, take that out again
  forget                   remove the records of the workspace: history, journals, its calls in the log

Flags:
${flags.join('\n')}`;
}

/** Returns the result of a search for WORDS in CATALOG, one tool on a line, then the note of the result.
 *  Throws a UsageError when WORDS is empty. */
export function searchText(words: readonly string[], catalog: Searchable): string {
  const query = words.join(' ');
  if (query.trim() === '') {
    throw new UsageError('The command search takes what to look for: live-lisp search "find callers".');
  }
  const { tools, more, note } = executeSearchTools({ query }, catalog);
  if (tools.length === 0) return `No tool has a word of this: ${query}`;
  const width = Math.max(...tools.map(({ id, name }) => (id ?? name).length));
  const lines = tools.map(
    ({ id, name, match, description }) =>
      `${(id ?? name).padEnd(width)}  ${(match ?? 'literal').padEnd(7)}  ${description}`,
  );
  return [...lines, ...(more ? [`Then: ${more.join(', ')}`] : []), ...(note ? [note] : [])].join('\n');
}
