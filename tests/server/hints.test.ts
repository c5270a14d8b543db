// What clients are told of the effects of each tool: their people are asked by it.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Session, startSession, temporaryFolder } from '../harness.ts';

let session: Session;
beforeAll(async () => {
  session = await startSession();
});
afterAll(() => session.close());

/** Returns the names of the tools of which HINT is told. */
async function told(hint: string): Promise<string[]> {
  const { tools } = await session.client.listTools();
  const hints = tools.map(({ name, annotations }) => [name, Object.entries(annotations ?? {})] as const);
  return hints
    .filter(([, each]) => each.some(([key, value]) => key === hint && value === true))
    .map(([name]) => name);
}

async function changing(): Promise<string[]> {
  const { tools } = await session.client.listTools();
  const looking = await told('readOnlyHint');
  return tools.map(({ name }) => name).filter((name) => !looking.includes(name));
}

test('every tool but these only looks', async () => {
  expect(await changing()).toEqual([
    'macroexpand_form',
    'eval_form',
    'compile_form',
    'write_file',
    'propose_file_edit',
    'load_system',
    'load_file',
    'run_tests',
    'edit_definitions',
    'rename_symbol',
    'debug',
    'observe',
    'interrupt',
    'restart_image',
  ]);
});

test('whatever runs code of the user can destroy something: macros and #. are such code', async () => {
  expect(await told('destructiveHint')).toEqual([
    'macroexpand_form',
    'eval_form',
    'compile_form',
    'write_file',
    'propose_file_edit',
    'load_system',
    'load_file',
    'run_tests',
    'edit_definitions',
    'rename_symbol',
    'debug',
    'observe',
    'restart_image',
  ]);
});

test('what runs any code can reach beyond the image', async () => {
  expect(await told('openWorldHint')).toEqual([
    'macroexpand_form',
    'eval_form',
    'compile_form',
    'load_system',
    'load_file',
    'run_tests',
    'edit_definitions',
    'rename_symbol',
    'debug',
    'observe',
    'restart_image',
  ]);
});

test.each(['compile_form', 'macroexpand_form'])(
  '%s can write a file by #., as its hints say',
  async (tool) => {
    const folder = temporaryFolder();
    const file = join(folder.path, 'written');
    const form = `(list #.(with-open-file (out ${JSON.stringify(file)} :direction :output) (write 1 :stream out)))`;
    await session.call(tool, { form });
    expect(readFileSync(file, 'utf8')).toBe('1');
    folder.remove();
  },
);

test('of those that change something, only writing a file again changes nothing more', async () => {
  const again = await told('idempotentHint');
  expect((await changing()).filter((name) => again.includes(name))).toEqual(['write_file']);
});
