// Decides what clients are told of who serves them, and what their people see of that.

import { type CallToolResult, SERVER_INFO_META_KEY, type ServerContext } from '@modelcontextprotocol/server';
import { isModern } from './approvals.ts';

/** A pair of parentheses around a dot that lives. */
const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#234"/><path d="M12 6q-7 10 0 20M20 6q7 10 0 20" fill="none" stroke="#fff" stroke-width="3"/><circle cx="16" cy="16" r="3" fill="#5d8"/></svg>`;

/** Who serves, in short. */
function shortIdentity(version: string) {
  return { name: 'live-lisp', title: 'Live Common Lisp image', version };
}

/** Returns who serves, of that VERSION of live-lisp, whose home page is HOMEPAGE when it has one. */
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

/** Returns RESULT with who serves in short, where the era of CONTEXT puts that into each result: in whole it is longer
 *  than most answers. */
export function signed(result: CallToolResult, context: ServerContext, version: string): CallToolResult {
  if (!isModern(context)) return result;
  return { ...result, _meta: { ...result._meta, [SERVER_INFO_META_KEY]: shortIdentity(version) } };
}
