// Adds a note to the answers of tools that read files on the disk, if an editor has unsaved changes of these files.
// Also adds one when an editor does not answer.

import { join } from 'node:path';
import type { Unsaved, UnsavedFile } from '../files/unsaved.ts';
import type { Workspace } from '../files/workspace.ts';
import { toResult } from '../kernel/outcome.ts';
import type { Arguments } from '../kernel/parameter.ts';
import { fewOf, joinSections } from '../kernel/reply.ts';
import type { Result, Tool } from '../kernel/tool.ts';
import { visibleName } from '../visible.ts';
import { isLispFile } from './parentheses.ts';

/** Maximum number of files that a note names. */
const NAME_LIMIT = 5;

/** Returns TOOL with a handler that adds a note about the files with unsaved changes that the call read. TOOL must have
 * the parameter `path` or `paths`, or both. */
export function notingUnsaved(tool: Tool, workspace: Workspace): Tool {
  return noting(tool, workspace, async (files, args, result) => {
    const paths = [args['path'], args['paths']].flat().filter((path) => typeof path === 'string');
    const asked = await Promise.all(paths.map((path) => realOf(workspace, path)));
    return unsavedNote(
      workspace,
      files.filter(({ file }) => readsFile(file, { workspace, asked, result })),
    );
  });
}

/** Returns TOOL with a handler that adds a note about all Lisp files of the workspace that have unsaved changes. This
 * is for a tool that reads files which its arguments do not name. */
export function notingUnsavedLisp(tool: Tool, workspace: Workspace): Tool {
  return noting(tool, workspace, async (files) => {
    const isOwn = (file: string) => workspace.realRoots.some((root) => isAt(file, root));
    const lisp = files.filter(({ file }) => isLispFile(file) && isOwn(file));
    if (lisp.length === 0) return undefined;
    const { names, editors } = namesIn(workspace, lisp);
    return `Note: this call read the files on the disk, without the unsaved changes of ${names} in ${editors}. read_buffer shows these.`;
  });
}

/** Returns TOOL with a handler that adds the notes that NOTE_ON returns. FILES, the first argument of NOTE_ON, has all
 * readable files with unsaved changes. */
function noting(
  tool: Tool,
  workspace: Workspace,
  noteOn: (files: readonly UnsavedFile[], args: Arguments, result: Result) => Promise<string | undefined>,
): Tool {
  return {
    ...tool,
    handler: async (args, context) => {
      // Lisp code in the image gets only the data of a result, so no note is made for it.
      if (context.forData) return tool.handler(args, context);
      const [answer, { files, silent }] = await Promise.all([
        tool.handler(args, context),
        workspace.unsavedBelow('/', 'names'),
      ]);
      const result = toResult(answer);
      const silence = silent && `Note: ${silentText(silent)}; this call used the text on the disk.`;
      const note = joinSections([result.note, await noteOn(files, args, result), silence]);
      return note === '' ? answer : { ...result, note };
    },
  };
}

function isAt(file: string, folder: string | undefined): boolean {
  return file === folder || file.startsWith(`${folder}/`);
}

/** Resolves with the real path of PATH, an argument of a call; undefined when it cannot be read. */
async function realOf(workspace: Workspace, path: string): Promise<string | undefined> {
  try {
    const { real, missing } = await workspace.locate(path, 'read');
    return join(real, ...missing);
  } catch {
    return undefined;
  }
}

/** Returns true when the call read FILE: when `asked`, the paths in the call, has FILE or a folder that contains it, or
 * when RESULT names FILE. Also returns true for a Lisp file when a search of the workspace found nothing. */
function readsFile(
  file: string,
  {
    workspace,
    asked,
    result,
  }: { workspace: Workspace; asked: readonly (string | undefined)[]; result: Result },
): boolean {
  const isIn = (folder: string | undefined) => isAt(file, folder);
  const found = !result.absent && !result.unfound;
  if (asked.some(isIn) || (!found && isLispFile(file) && workspace.realRoots.some(isIn))) return true;
  const name = visibleName(workspace.name(file)).replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  return new RegExp(`(?<![\\w./-])${name}(?![\\w/-])`).test(result.text);
}

function unsavedNote(workspace: Workspace, files: readonly UnsavedFile[]): string | undefined {
  if (files.length === 0) return undefined;
  const { names, editors } = namesIn(workspace, files);
  return `Note: ${names} ${files.length === 1 ? 'has' : 'have'} unsaved changes in ${editors}; this call used the text on the disk. read_buffer shows the unsaved text.`;
}

/** Returns the names of FILES, and the names of the editors that have unsaved changes of them. */
function namesIn(workspace: Workspace, files: readonly UnsavedFile[]): { names: string; editors: string } {
  const names = files.map(({ file }) => visibleName(workspace.name(file)));
  const editors = new Set(files.map(({ editor }) => editor));
  return { names: fewOf(names, NAME_LIMIT), editors: [...editors].join(' and ') };
}

/** Returns the beginning of a sentence about EDITOR, which did not answer. */
export function silentText(editor: string): string {
  return `${editor} did not report in time whether it has unsaved changes`;
}

/** Returns a sentence about an editor that did not answer; undefined when all have answered. */
export function silentSentence({ silent }: Unsaved): string | undefined {
  return silent && `${silentText(silent)}.`;
}
