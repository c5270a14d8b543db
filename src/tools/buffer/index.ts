// Lists the tools that read, search and write files.

import type { Workspace } from '../../files/workspace.ts';
import type { Tool } from '../../kernel/tool.ts';
import { type PendingEdits, WorkspaceBuffers } from './buffers.ts';
import { readBuffer, readFile } from './reading.ts';
import { searchInBuffer } from './search-in-buffer.ts';
import { writeFile } from './writing.ts';

/** Returns the tools of the category buffer. PENDING_EDITS returns edits that wait for approval; MATCH_MS limits the
 *  matching of a pattern against one text, in milliseconds. */
export function bufferTools(workspace: Workspace, pendingEdits?: PendingEdits, matchMs?: number): Tool[] {
  const buffers = new WorkspaceBuffers(workspace, pendingEdits);
  return [
    readFile(workspace, buffers),
    readBuffer(buffers),
    searchInBuffer(buffers, matchMs),
    writeFile(workspace),
  ];
}
