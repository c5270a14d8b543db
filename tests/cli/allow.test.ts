// What a person may allow at the start, and what they are told when it would have no effect.

import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { SERVER } from '../harness.ts';

function start(allow: string) {
  const { status, stderr } = spawnSync(process.execPath, [SERVER, 'tools', '--allow', allow], {
    encoding: 'utf8',
  });
  return [status, stderr];
}

test.each([
  'write_file',
  'write-file:src/**',
  'load_file:*.lisp',
  'eval_form',
  'propose_file_edit:/other/root/**',
])('--allow %s is taken', (allow) => {
  expect(start(allow)).toEqual([0, '']);
});

test.each([
  ['writefile', '--allow: Unknown tool: writefile. Did you mean write_file?'],
  ['read_file', '--allow: read_file is safe and never asks.'],
  ['eval_form:src/**', '--allow: eval_form is about no file, so it takes no glob: --allow eval_form.'],
  ['write_file:src/', '--allow: src/ matches no file, only src/** does.'],
  ['Write File', '--allow must be TOOL or TOOL:GLOB, not Write File.'],
  [':src/**', '--allow must be TOOL or TOOL:GLOB, not :src/**.'],
])('--allow %s is told', (allow, text) => {
  expect(start(allow)).toEqual([2, `live-lisp: ${text}\n`]);
});
