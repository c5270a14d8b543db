// Describes the server to clients and to their users.

import { type CallToolResult, SERVER_INFO_META_KEY, type ServerContext } from '@modelcontextprotocol/server';
import { isModern } from './approvals.ts';

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#234"/><path d="M12 6q-7 10 0 20M20 6q7 10 0 20" fill="none" stroke="#fff" stroke-width="3"/><circle cx="16" cy="16" r="3" fill="#5d8"/></svg>`;

function shortIdentity(version: string) {
  return { name: 'live-lisp', title: 'Live Common Lisp image', version };
}

/** Returns the full description of live-lisp in this VERSION, with HOMEPAGE if given. */
export function identity(version: string, homepage?: string) {
  return {
    ...shortIdentity(version),
    description: 'Evaluate, search, debug and change a running Common Lisp (SBCL) program',
    icons: [
      { src: `data:image/svg+xml,${encodeURIComponent(ICON)}`, mimeType: 'image/svg+xml', sizes: ['any'] },
    ],
    ...(homepage && { websiteUrl: homepage }),
  };
}

/** Returns RESULT. In the modern era of MCP, each result names its server, so adds the short identity for a
 *  request of that era. The full identity would be longer than most answers. */
export function signed(result: CallToolResult, context: ServerContext, version: string): CallToolResult {
  if (!isModern(context)) return result;
  return { ...result, _meta: { ...result._meta, [SERVER_INFO_META_KEY]: shortIdentity(version) } };
}
