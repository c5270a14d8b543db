// Describes the server to clients and their users.

import { type CallToolResult, SERVER_INFO_META_KEY, type ServerContext } from '@modelcontextprotocol/server';
import { isModern } from './approvals.ts';

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#234"/><path d="M12 6q-7 10 0 20M20 6q7 10 0 20" fill="none" stroke="#fff" stroke-width="3"/><circle cx="16" cy="16" r="3" fill="#5d8"/></svg>`;

function shortIdentity(version: string) {
  return { name: 'live-lisp', title: 'Live Common Lisp image', version };
}

/** Returns the name, version, icon and description of live-lisp. HOMEPAGE is its URL, if it has one. */
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

/** Returns RESULT, with the server's name and version added if the request has a newer version of MCP (see
 * `isModern`), where each result names its server. The full identity would be longer than most answers. */
export function signed(result: CallToolResult, context: ServerContext, version: string): CallToolResult {
  if (!isModern(context)) return result;
  return { ...result, _meta: { ...result._meta, [SERVER_INFO_META_KEY]: shortIdentity(version) } };
}
