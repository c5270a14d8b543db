// Lists the tools that change parts of files.

import type { Workspace } from '../../files/workspace.ts';
import type { Tool } from '../../kernel/tool.ts';
import { proposeFileEdit } from './edit.ts';

/** Returns the tools of the category diff. */
export function diffTools(workspace: Workspace): Tool[] {
  return [proposeFileEdit(workspace)];
}
