// Defines call_tool, by which a client that does not list all tools can call each of them.

import { CallError } from '../errors.ts';
import { inputSchema, readArguments } from '../kernel/schema.ts';
import type { McpTool } from './mcp-tool.ts';

/** The signature of call_tool. The registry does not contain call_tool, only the tools that call_tool can call. */
export const CALL_TOOL = {
  name: 'call_tool',
  parameters: [
    { name: 'name', type: 'string', description: 'The tool to call, as search_tools names it' },
    {
      name: 'arguments',
      type: 'object',
      description: "The tool's arguments; search_tools with includeSchema:true shows what it takes",
    },
  ],
  required: ['name'],
} as const;

/** Returns the definition of call_tool for MCP. */
export function callToolDefinition(): McpTool {
  return {
    name: CALL_TOOL.name,
    description:
      'Call any tool that search_tools finds, by its name and with its arguments. Checks, approval and answer are the same as for that tool.',
    inputSchema: inputSchema(CALL_TOOL),
    _meta: { 'anthropic/alwaysLoad': true },
  };
}

/** Returns the name and the arguments of the tool that ARGS, the arguments of call_tool, contain. Throws a CallError
 * when ARGS do not match the signature, or name call_tool itself. */
export function calledTool(args: unknown): { name: string; args: unknown } {
  const { name, arguments: inner } = readArguments(CALL_TOOL, args);
  if (isCallTool(name)) {
    throw new CallError('call_tool cannot call itself; give the name of the tool to call.');
  }
  return { name, args: inner };
}

/** Returns true when NAME is call_tool, where `-` equals `_`. */
export function isCallTool(name: string): boolean {
  return name.replaceAll('-', '_') === CALL_TOOL.name;
}
