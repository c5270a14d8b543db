// Implements the commands `help`, `tools` and `search`.

import type { Searchable } from './catalog/search.ts';
import { answerSearchTools } from './catalog/search-tools.ts';
import { usageOf, VERBS, verbNamed, verbOf } from './command/verbs.ts';
import { UsageError } from './errors.ts';
import { FLAGS } from './flags.ts';
import type { ToolRegistry } from './kernel/registry.ts';

/** Returns a text that lists all tools, with their names, levels and short descriptions. */
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

export function helpText(): string {
  const flags = FLAGS.map(({ name, value, help }) => {
    const usage = `--${name}${value === undefined ? '' : ` ${value}`}`;
    return `  ${usage.padEnd(24)} ${help}`;
  });
  const verbs = Object.entries(VERBS).map(([name, { help }]) => `  ${usageOf(name).padEnd(24)} ${help}`);
  return `live-lisp: an MCP server that gives a coding agent a live Common Lisp image

Usage: live-lisp [COMMAND] [FLAGS]

Commands that work in the session of this folder (the first one starts it):
${verbs.join('\n')}
Their options are the parameters of their tools: live-lisp help WORD lists them. All take --json, --root DIR and --session PID, and --image NAME where the session has several images.

Other commands:
  serve                    serve MCP on stdin and stdout (the default)
  session                  serve the commands above with the flags given, and no MCP client
  help WORD                explain a command or a tool
  tools                    list the tools
  search WORDS             print the tools that a search for WORDS finds
  doctor                   check the set-up; with --client, also how that client starts live-lisp
  attach                   print the line that makes your own image serve agents, and list the images that serve now
  image [-- OPTIONS]       start an SBCL in this terminal that serves agents and shows what they do; OPTIONS are those of SBCL
  dial [NAME]              connect a remote server, over stdin and stdout, to an image that serves here
  install                  with --client, set up that client; else list the clients on this machine
  uninstall                with --client, remove live-lisp from that client
  forget                   remove the workspace's records: history, journals, profiles, and its calls in the log

Flags:
${flags.join('\n')}`;
}

/** Returns the help for WORD, the name of a verb or of a tool in REGISTRY, with its options. Throws a UsageError when
 * WORD is neither. */
export function helpOn(word: string, registry: ToolRegistry): string {
  const verb = verbNamed(word);
  if (verb !== undefined && verb.tool === undefined)
    return `Usage: live-lisp ${usageOf(word)}\n\n${verb.help}`;
  const tool = registry.getTool(verb?.tool ?? word.replaceAll('-', '_'));
  if (tool === null) {
    throw new UsageError(
      `There is no command or tool ${word}; live-lisp --help and live-lisp tools list them.`,
    );
  }
  const options = tool.parameters
    .filter(({ name }) => !verb?.gives?.includes(name))
    .map(({ name, type, description }) => {
      const option = verb ? `--${name.replaceAll('_', '-')}` : `${name}=`;
      const value = type === 'boolean' && verb ? '' : type.toUpperCase();
      const isShort = Object.hasOwn(verb?.options ?? {}, name);
      const given = isShort ? `[=${value}]` : `${verb ? ' ' : ''}${value}`;
      return `  ${`${option}${given}`.trim().padEnd(24)} ${description ?? ''}`.trimEnd();
    });
  const short = Object.entries(verb?.options ?? {})
    .filter(([name]) => !tool.parameters.some((each) => each.name === name))
    .map(([name, args]) => {
      const stands = Object.entries(args).map(([each, value]) => `--${each.replaceAll('_', '-')} ${value}`);
      return `  --${name.padEnd(22)} As ${stands.join(' ')}`;
    });
  const all = [...short, ...options];
  const usage = verb ? usageOf(word) : `call ${tool.name} NAME=VALUE ...`;
  const about = verb ? namingVerbs(tool.description, registry) : tool.description;
  return [`Usage: live-lisp ${usage}`, '', about, ...(all.length > 0 ? ['', 'Options:', ...all] : [])].join(
    '\n',
  );
}

/** Returns TEXT with a command in place of the name of each tool in REGISTRY: the verb that calls the tool or, if there
 * is none, `live-lisp call` with the name. */
function namingVerbs(text: string, registry: ToolRegistry): string {
  return text.replace(/\b[a-z]+(?:_[a-z]+)+\b/g, (name) => {
    const verb = verbOf(name);
    if (verb !== undefined) return `live-lisp ${verb}`;
    return registry.getTool(name) === null ? name : `live-lisp call ${name}`;
  });
}

/** Returns the result of a search for WORDS in CATALOG, as text. It has a line for each tool. A last line, if
 * necessary, has the names of further matches and a note about the search. Throws a UsageError when WORDS is empty. */
export function searchText(words: readonly string[], catalog: Searchable): string {
  const query = words.join(' ');
  if (query.trim() === '') {
    throw new UsageError('The command search needs words to look for: live-lisp search "find callers".');
  }
  const { tools, more, note } = answerSearchTools({ query }, catalog);
  if (tools.length === 0)
    return `No tool matches any word of: ${query}. Say in other words what the tool should do.`;
  const width = Math.max(...tools.map(({ id, name }) => (id ?? name).length));
  const lines = tools.map(
    ({ id, name, match, description }) =>
      `${(id ?? name).padEnd(width)}  ${(match ?? 'literal').padEnd(7)}  ${description}`,
  );
  return [...lines, ...(more ? [`Further matches: ${more.join(', ')}`] : []), ...(note ? [note] : [])].join(
    '\n',
  );
}
