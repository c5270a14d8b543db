// What clients are told of the effects of each tool: their people are asked by it.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Session, startSession } from '../harness.ts';

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

test('what expands, compiles or interrupts destroys nothing', async () => {
  expect(await told('destructiveHint')).toEqual([
    'eval_form',
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
    'eval_form',
    'load_system',
    'load_file',
    'run_tests',
    'debug',
    'observe',
  ]);
});

test('of those that change something, only writing a file again changes nothing more', async () => {
  const again = await told('idempotentHint');
  expect((await changing()).filter((name) => again.includes(name))).toEqual(['write_file']);
});
