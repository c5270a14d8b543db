// Decides the tool that writes whole files.

import { unifiedDiff, wholeContent } from '../../files/diff.ts';
import { binaryKind, decode, encode } from '../../files/text.ts';
import type { Workspace } from '../../files/workspace.ts';
import { type Present, presentFile, replaceFile } from '../../files/write.ts';
import { type Arguments, defineTool, keywordList, type ToolDefinition } from '../../kernel/tool.ts';
import { visibleName } from '../../visible.ts';
import { checkApproved } from '../approved.ts';

const WRITE_FILE: Omit<ToolDefinition, 'handler' | 'preview'> = {
  name: 'write_file',
  title: 'Write file',
  description:
    'Write a whole text file into the workspace, as UTF-8: a new one, or in place of what is there. Missing directories are made. A human is asked before. To change a part of a file use propose_file_edit.',
  parameters: [
    { name: 'path', type: 'string', description: 'The file, relative to the workspace root' },
    { name: 'content', type: 'string', description: 'The whole text of the file' },
  ],
  required: ['path', 'content'],
  safetyLevel: 'dangerous',
  categories: ['buffer'],
  shortDescription: 'Write a whole text file, new or in place of the old one',
  complexity: 'simple',
  keywords: keywordList(`
    create a file, save to disk, new file, write a file, overwrite a file, replace the whole file, save this
    code, fresh file, does not exist yet, there is none yet, store text in a file, make a file, touch, add a
    file, add a README, generate a source file, dump to a file, export text to a file, persist, atomic save, put
    the defuns into a file, into a file of their own, into the project folder, write out the module, echo >,
    tee, heredoc, fs.writeFile, writeFileSync, Files.write, open(w), spit, with-open-file :direction :output,
    save-buffer, C-x C-s, write-file, C-x C-w, Save As, scaffold, boilerplate, new module, new source file, new
    test file, new asd, make an asd, make a directory, mkdir, rewrite the file completely, update a source file,
    modify a file in the workspace, notes.txt, Set-Content, cat > file, Path.write_text, File.write, ofstream,
    create a module, create a source file, create a config file, save my work, save the definitions, save the
    result in a file, write to disk, write this text to, put text into a file, generated code to a file, initial
    version of a file, start a new file, .gitignore, license file, put this into a file, create the file, write
    out the generated code, start a new module, save these functions as, dump this to disk, replace the whole
    content, whole content, complete content, store the script as, write a new system definition, create an asd,
    in a new file, into a new file, new document, make a test file, make a script, make notes, file with this
    content, write tests to a file, write the finished module, finished code, keep my function for good, keep my
    code, so that it is not lost, make it permanent, move the definitions from the REPL to a file, write the
    source, code to file, export to a file, output file, log to a file, write CSV, write JSON, create a folder
    with, File > New, Ctrl+S, :w, :wq, vim :w, C-x C-f new file, nano, fopen w, File.WriteAllText,
    fs.promises.writeFile, outputStream, print to a file, with open as f, f.write, atomically, UTF-8 text file,
    project skeleton, cookiecutter, template project, generate a file, generate a package.lisp, with this
    content, save it as, store my functions on disk, output my code into a file, put the text in a file, new
    .asd file, new file for tests`),
};

export function writeFile(workspace: Workspace) {
  return defineTool({
    ...WRITE_FILE,
    preview: async (args, { signal }) => {
      const { path, bytes } = wanted(args);
      const present = await presentFile(workspace, path, signal);
      const text = changeText(present, bytes);
      return { text, place: present.name, fingerprint: present.fingerprint };
    },
    handler: async (args, { fingerprint, signal }) => {
      const { path, bytes } = wanted(args);
      const confirm = (present: Present) => checkApproved(present, fingerprint);
      const name = await replaceFile(workspace, path, bytes, confirm, signal);
      return {
        data: { path: name, bytes: bytes.length },
        text: `Wrote ${bytes.length} bytes to ${visibleName(path)}`,
      };
    },
  });
}

function wanted(args: Arguments): { path: string; bytes: Buffer } {
  const path = String(args['path']);
  const text = String(args['content']);
  return { path, bytes: encode({ text, encoding: 'UTF-8', bom: false }, visibleName(path)) };
}

/** Returns what a person is shown of BYTES, a text, in place of PRESENT. */
function changeText({ name, size, bytes: old }: Present, bytes: Buffer): string {
  const file = visibleName(name);
  const after = decode(bytes);
  if (size === undefined) return wholeContent(`New file ${file}`, after);
  if (old?.equals(bytes)) return `${file} has exactly this content already.`;
  const kind = old === undefined ? 'a large file' : binaryKind(old);
  if (old === undefined || kind !== undefined)
    return wholeContent(`In place of ${file}, ${kind} of ${size} bytes`, after);
  return unifiedDiff(name, decode(old), after);
}
