// What clients are told of the effects of each tool: their people are asked by it.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ownFolder, sharedSession } from '../shared.ts';

const session = sharedSession();

/** What MCP assumes where a tool has no hint. */
const ASSUMED = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true };
type Hint = keyof typeof ASSUMED;

/** Returns the names of the tools of which HINT holds; of those that only look, no more is told than that. */
async function reported(hint: Hint): Promise<string[]> {
  const { tools } = await session.client.listTools();
  return tools
    .filter(({ annotations }) => hint === 'readOnlyHint' || annotations?.readOnlyHint !== true)
    .filter(({ annotations }) => annotations?.[hint] ?? ASSUMED[hint])
    .map(({ name }) => name);
}

test('no tool has a hint that says what MCP assumes anyway', async () => {
  const { tools } = await session.client.listTools();
  const said = tools.flatMap(({ annotations }) => Object.entries(annotations ?? {}));
  expect(said.filter(([hint, value]) => ASSUMED[hint as Hint] === value)).toEqual([]);
  expect(said.filter(([hint]) => !(hint in ASSUMED))).toEqual([]);
});

test('what only looks stays in the image and the workspace', async () => {
  const { tools } = await session.client.listTools();
  const looking = tools.filter(({ annotations }) => annotations?.readOnlyHint);
  expect(looking.map(({ annotations }) => annotations)).toEqual(
    looking.map(() => ({ readOnlyHint: true, openWorldHint: false })),
  );
});

async function changing(): Promise<string[]> {
  const { tools } = await session.client.listTools();
  const looking = await reported('readOnlyHint');
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
  expect(await reported('destructiveHint')).toEqual([
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
  expect(await reported('openWorldHint')).toEqual([
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
    const folder = ownFolder();
    const file = join(folder.path, 'written');
    const form = `(list #.(with-open-file (out ${JSON.stringify(file)} :direction :output) (write 1 :stream out)))`;
    await session.call(tool, { form });
    expect(readFileSync(file, 'utf8')).toBe('1');
  },
);

test('of those that change something, only writing a file again changes nothing more', async () => {
  const again = await reported('idempotentHint');
  expect((await changing()).filter((name) => again.includes(name))).toEqual(['write_file']);
});
