// Defines the tool propose_file_edit, which changes a part of a file.

import { CallError } from '../../errors.ts';
import { diffHunks, fileDiffOf, newFileDiff } from '../../files/diff.ts';
import { encode, type FileText } from '../../files/text.ts';
import type { Workspace } from '../../files/workspace.ts';
import { type FileState, presentFile, replaceFile } from '../../files/write.ts';
import { boundLines, joinSections } from '../../kernel/reply.ts';
import { type ArgumentsFor, defineTool, type Result, type ToolDescription } from '../../kernel/tool.ts';
import { type QuestionLine, questionLine, quoted } from '../../question-line.ts';
import { topLevelLists } from '../../source/code-search.ts';
import { visibleName } from '../../visible.ts';
import { checkApproved, presentText } from '../approved.ts';
import { atLinesText, exactPlaces, nearestText, withLineEndsOf } from '../exact-text.ts';
import { isLispFile, newImbalanceText } from '../parentheses.ts';

const PROPOSE_FILE_EDIT = {
  name: 'propose_file_edit',
  description:
    'Replace a piece of text in a file, such as a version, a comment, a line of README.md or a typo, after the user approves the diff. For Lisp definitions use edit_definitions; for other files your own tool works too.',
  parameters: [
    { name: 'path', type: 'string' },
    { name: 'original', type: 'string', description: 'Text that occurs once; empty for a new file' },
    { name: 'modified', type: 'string' },
    { name: 'description', type: 'string', description: 'Why, for the user' },
  ],
  required: ['path', 'original', 'modified'],
  safetyLevel: 'dangerous',
  categories: ['diff'],
  shortDescription: 'Change a part of a file; a human sees the diff and decides',
  complexity: 'moderate',
  keywords: [
    'modify a file',
    'patch a function',
    'edit a file',
    'find and replace',
    'change code in a file',
    'replace text in a file',
    'fix a bug in the source',
    'apply a diff',
  ],
} as const satisfies ToolDescription;

type EditArguments = ArgumentsFor<typeof PROPOSE_FILE_EDIT>;

/** Maximum number of diff lines to show after a human changed the edit. */
const DIFF_LINES = 200;

export function proposeFileEditTool(workspace: Workspace) {
  return defineTool({
    ...PROPOSE_FILE_EDIT,
    preview: async (args, { signal }) => {
      const present = await presentFile(workspace, args.path, signal);
      const { before, after } = editOf(present, args, workspace);
      // `encode` throws when the file's encoding lacks a character of the text. This must happen before a human is
      // asked.
      encode(after, visibleName(present.name));
      const { name, fingerprint } = present;
      const change = isNewFile(present) ? newFileDiff(name, after) : fileDiffOf(name, before, after);
      const reason = reasonLines(args);
      const text = [...reason, ...change.text];
      // `lines` are shown where there is little space, and their end may be cut off. So the diff comes before the
      // reason there.
      return { ...change, text, lines: [...change.lines, ...reason], place: name, fingerprint };
    },
    handler: async (args, { fingerprint, signal, changedByHuman }) => {
      const { path } = args;
      const present = await presentFile(workspace, path, signal);
      checkApproved(present, fingerprint);
      const { before, after } = editOf(present, args, workspace);
      const bytes = encode(after, visibleName(present.name));
      const confirm = (now: FileState) => checkApproved(now, present.fingerprint);
      await replaceFile(workspace, path, bytes, confirm, signal);
      return editResult(
        present,
        { before: before.text, after: after.text, bytes: bytes.length },
        changedByHuman,
      );
    },
  });
}

/** Returns the answer after an edit from BEFORE to AFTER. It shows the diff only when a human changed the edit, because
 * the caller knows its own edit. */
function editResult(
  present: FileState,
  { before, after, bytes }: { before: string; after: string; bytes: number },
  changedByHuman = false,
): Result {
  const hunks = diffHunks(before, after);
  const warning = newImbalanceText(visibleName(present.name), before, after);
  const newSize = sizeText(present.name, bytes, after, warning !== undefined);
  return {
    data: { path: present.name, bytes, hunks: hunks.text, warning },
    text: joinSections([
      headline(present, hunks.summary, newSize),
      changedByHuman && boundLines(hunks.text, DIFF_LINES),
      warning,
    ]),
  };
}

function reasonLines({ description = '' }: EditArguments): QuestionLine[] {
  const reason = description.trim().replace(/\s+/g, ' ');
  return reason === '' ? [] : [questionLine`The agent says: ${quoted(reason)}`];
}

function headline(present: FileState, summary: string, newSize: string): string {
  const file = visibleName(present.name);
  if (isNewFile(present)) return `Created ${file}. It has ${newSize}.`;
  return `Changed ${file}: ${summary}. It has ${newSize} now.`;
}

/** Returns a phrase with the new size of the file NAME. For a Lisp file that can be read, it also has the number of
 * top-level forms. BROKEN is true when the edit has unbalanced the parentheses of the file. */
function sizeText(name: string, bytes: number, text: string, broken: boolean): string {
  const size = `${bytes} ${bytes === 1 ? 'byte' : 'bytes'}`;
  if (broken || !isLispFile(name)) return size;
  const forms = topLevelLists(text);
  return `${size} and ${forms} top-level ${forms === 1 ? 'form' : 'forms'}`;
}

function isNewFile({ size }: FileState): boolean {
  return size === undefined;
}

function editOf(
  present: FileState,
  args: EditArguments,
  workspace: Workspace,
): { before: FileText; after: FileText } {
  const normalized = {
    original: args.original.replaceAll('\r\n', '\n'),
    modified: args.modified.replaceAll('\r\n', '\n'),
  };
  const file = visibleName(present.name);
  if (normalized.original === normalized.modified) {
    throw new CallError("Parameters 'original' and 'modified' are the same, so there is nothing to change.");
  }
  const before = presentText(present);
  if (normalized.original === '') {
    if (before.text !== '') {
      throw new CallError(
        `${file} exists and is not empty, so 'original' must be the text to replace. It may be empty only for a new file.`,
      );
    }
    // A new file keeps the line ends that the caller gives. In an existing file, the new lines get those of the old
    // text.
    return { before, after: { ...before, text: args.modified } };
  }
  if (isNewFile(present)) {
    throw new CallError(
      `There is no file ${file} to change. Relative paths start at ${workspace.root}; an empty original makes a new file.`,
    );
  }
  return { before, after: { ...before, text: replaced(file, before.text, normalized) } };
}

/** Returns TEXT, the content of FILE, in which MODIFIED replaces the only occurrence of ORIGINAL. */
function replaced(
  file: string,
  text: string,
  { original, modified }: { original: string; modified: string },
) {
  const { count, lines, places } = exactPlaces(text, original);
  const [place] = places;
  if (place === undefined) throw new CallError(staleText(file, text, original));
  if (count > 1) {
    throw new CallError(
      `The text of 'original' occurs ${count} times in ${file}, ${atLinesText(lines)}. Give more of the text around it, so that it occurs once.`,
    );
  }
  const { from, to } = place;
  return text.slice(0, from) + withLineEndsOf(text, from, to, modified) + text.slice(to);
}

function staleText(file: string, text: string, original: string): string {
  const hint = nearestText(text, original, 'original') ?? 'No similar text was found; read the file again.';
  return `The text of 'original' was not found in ${file} as it is on the disk; nothing was changed. ${hint}`;
}
