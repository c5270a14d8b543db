// Decides which tools read, search and write files, in the order of the list.

import type { Workspace } from '../../files/workspace.ts';
import type { Tool } from '../../kernel/tool.ts';
import { type PendingEdits, WorkspaceBuffers } from './buffers.ts';
import { readBuffer, readFile } from './reading.ts';
import { searchInBuffer } from './search-in-buffer.ts';
import { writeFile } from './writing.ts';

/** Returns the tools of the category buffer, over WORKSPACE; PENDING_EDITS tells of edits that wait for an answer. */
export function bufferTools(workspace: Workspace, pendingEdits?: PendingEdits): Tool[] {
  const buffers = new WorkspaceBuffers(workspace, pendingEdits);
  return [readFile(workspace, buffers), readBuffer(buffers), searchInBuffer(buffers), writeFile(workspace)];
}
