// Defines the tool write_file, which writes whole files.

import { relative, resolve } from 'node:path';
import { type FileDiff, fileDiffOf, newFileDiff, wholeContentDiff } from '../../files/diff.ts';
import { binaryKind, decode, encode } from '../../files/text.ts';
import type { Workspace } from '../../files/workspace.ts';
import { type FileState, presentFile, replaceFile } from '../../files/write.ts';
import { joinSections } from '../../kernel/reply.ts';
import { type ArgumentsFor, defineTool, type ToolDescription } from '../../kernel/tool.ts';
import { ownWords, questionLine } from '../../question-line.ts';
import { visibleName } from '../../visible.ts';
import { checkApproved } from '../approved.ts';
import { newImbalanceText } from '../parentheses.ts';

const WRITE_FILE = {
  name: 'write_file',
  description:
    'Save text to disk: create a new file, such as package.lisp or README.md, or overwrite the whole contents, after the user approves. To change a part use propose_file_edit, for definitions edit_definitions. Creates missing directories.',
  parameters: [
    { name: 'path', type: 'string' },
    { name: 'content', type: 'string' },
  ],
  required: ['path', 'content'],
  safetyLevel: 'dangerous',
  effects: { idempotent: true },
  categories: ['buffer'],
  shortDescription: 'Write a whole text file, new or in place of the old one',
  complexity: 'simple',
  keywords: [
    'create a file',
    'overwrite a file',
    'save to disk',
    'save this code',
    'new file',
    'write a file',
    'replace the whole file',
    'fresh file',
  ],
} as const satisfies ToolDescription;

export function writeFileTool(workspace: Workspace) {
  return defineTool({
    ...WRITE_FILE,
    preview: async (args, { signal }) => {
      const { path, bytes } = encodedContent(args);
      const present = await presentFile(workspace, path, signal);
      return { ...changeFor(present, bytes), place: present.name, fingerprint: present.fingerprint };
    },
    handler: async (args, { fingerprint, signal }) => {
      const { path, bytes } = encodedContent(args);
      let before = '';
      const confirm = (present: FileState) => {
        checkApproved(present, fingerprint);
        before = lispTextOf(present);
      };
      const name = await replaceFile(workspace, path, bytes, confirm, signal);
      const asked = resolve(workspace.root, path);
      const elsewhere = ![asked, relative(workspace.root, asked)].includes(name);
      const actual = elsewhere ? `, which is ${visibleName(name)}` : '';
      const headline = `Wrote ${bytes.length} bytes to ${visibleName(path)}${actual}`;
      const warning = newImbalanceText(visibleName(name), before, args.content);
      return {
        data: { path: name, bytes: bytes.length, ...(warning !== undefined && { warning }) },
        text: joinSections([headline, warning]),
      };
    },
  });
}

/** Returns the text of a file; '' when the file does not exist or is binary. */
function lispTextOf({ bytes }: FileState): string {
  return bytes === undefined || binaryKind(bytes) !== undefined ? '' : decode(bytes).text;
}

function encodedContent(args: ArgumentsFor<typeof WRITE_FILE>): { path: string; bytes: Buffer } {
  const { path, content } = args;
  return { path, bytes: encode({ text: content, encoding: 'UTF-8', bom: false }, visibleName(path)) };
}

function changeFor({ name, size, bytes: old }: FileState, bytes: Buffer): FileDiff {
  const after = decode(bytes);
  if (size === undefined) return newFileDiff(name, after);
  if (old?.equals(bytes)) {
    const lines = [questionLine`File ${name} has exactly this content already.`];
    return { summary: questionLine`no change`, counts: { added: 0, removed: 0 }, lines, text: lines };
  }
  const kind = old === undefined ? 'a large file' : binaryKind(old);
  if (old !== undefined && kind === undefined) return fileDiffOf(name, decode(old), after);
  const overwritten = questionLine`in place of ${ownWords(kind ?? 'a file')} of ${size} bytes`;
  const change = wholeContentDiff(questionLine`File ${name}, ${overwritten}`, after);
  return { ...change, summary: questionLine`${change.summary} ${overwritten}, which are lost` };
}
