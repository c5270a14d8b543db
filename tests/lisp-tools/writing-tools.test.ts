// The tool of docs/writing-tools.md, in both languages, as the page has it.

import { execFile, execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { transform } from 'esbuild';
import { expect, test } from 'vitest';
import { bad, FIXTURES, PROJECT, startSession, temporaryFolder } from '../harness.ts';

const PAGE = readFileSync(join(PROJECT, 'docs', 'writing-tools.md'), 'utf8');
const DEMO = join(FIXTURES, 'demo');
const DEFINE = `(progn (defun inventory::secret ()) (export 'inventory::secret :inventory)
  (defun inventory::|Mixed| ()) (export 'inventory::|Mixed| :inventory))`;
const FOUND = '("Mixed" "SECRET")';

/** Returns the block of the page in LANGUAGE. */
function blockIn(language: string): string {
  return new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 's').exec(PAGE)?.[1] ?? '';
}

test('S4.14 C17 the tool in Lisp, from an init file and evaluated', async () => {
  const folder = temporaryFolder();
  const init = join(folder.path, 'init.lisp');
  writeFileSync(init, blockIn('lisp'));
  const session = await startSession({ args: ['--root', DEMO, '--init', init] });
  const readOnly = async () => {
    const { tools } = await session.client.listTools();
    return tools.find(({ name }) => name === 'undocumented_functions')?.annotations?.readOnlyHint;
  };
  try {
    await session.text('load_file', { path: 'inventory.lisp' });
    await session.eval(DEFINE);
    expect(await session.text('undocumented_functions', { package: 'inventory' })).toBe(FOUND);
    expect(await session.call('undocumented_functions', { package: 'nope' })).toEqual(
      bad('Package nope not found'),
    );
    expect(await session.eval('(live-lisp:call-tool "undocumented_functions" :package "inventory")')).toBe(
      FOUND,
    );
    expect(await readOnly()).toBe(true);
    await session.eval(blockIn('lisp'));
    expect(await readOnly()).toBeUndefined();
    expect(await session.text('undocumented_functions', { package: 'inventory' })).toBe(FOUND);
  } finally {
    await session.close();
    folder.remove();
  }
});

test('the tool in TypeScript fits the types of the package', () => {
  const folder = temporaryFolder();
  const config = {
    extends: join(PROJECT, 'tsconfig.json'),
    compilerOptions: {
      typeRoots: [join(PROJECT, 'node_modules', '@types')],
      paths: { 'live-lisp': [join(PROJECT, 'src', 'index.ts')] },
    },
    include: ['tool.ts'],
  };
  try {
    folder.put('tool.ts', blockIn('ts'));
    folder.put('package.json', '{"type":"module"}');
    folder.put('tsconfig.json', JSON.stringify(config));
    const tsc = join(PROJECT, 'node_modules', '.bin', 'tsc');
    expect(execFileSync(tsc, ['-p', folder.path], { encoding: 'utf8', stdio: 'pipe' })).toBe('');
  } finally {
    folder.remove();
  }
});

test('S4.1 S2.8 S2.9 the tool in TypeScript, in a program', async () => {
  const folder = temporaryFolder();
  const program = `${blockIn('ts')}
    import { closeImage } from 'live-lisp';
    const call = async (name: string, args: object) => {
      const result = await executeToolCall({ name, arguments: args });
      return result.success ? result.result : result.error;
    };
    await call('eval_form', { form: '(load "inventory.lisp")', package: 'cl-user' });
    await call('eval_form', { form: ${JSON.stringify(DEFINE)} });
    console.log(await call('undocumented_functions', { package: 'inventory' }));
    console.log(await call('undocumented_functions', { package: 'nope' }));
    closeImage();`;
  try {
    const { code } = await transform(program, { loader: 'ts', format: 'esm' });
    const library = pathToFileURL(join(PROJECT, 'dist', 'index.js')).href;
    const file = join(folder.path, 'program.mjs');
    writeFileSync(file, code.replace(/(["'])live-lisp\1/g, JSON.stringify(library)));
    const { stdout } = await promisify(execFile)(process.execPath, [file], { cwd: DEMO });
    expect(stdout).toBe(`${FOUND}\nTool error: Package nope not found\n`);
  } finally {
    folder.remove();
  }
});
