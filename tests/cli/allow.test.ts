// What a person may allow at the start, and what they are told when it would have no effect.

import { expect, test } from 'vitest';
import { assemble } from '../../src/assembly.ts';
import { readConfig } from '../../src/config.ts';
import { UsageError } from '../../src/errors.ts';

/** Begins as the program does that is told `--allow ALLOW`; throws what it would tell. */
function start(allow: string): void {
  assemble(readConfig(['tools', '--allow', allow], process.env));
}

test.each([
  'write_file',
  'write-file:src/**',
  'load_file:*.lisp',
  'eval_form',
  'propose_file_edit:/other/root/**',
])('--allow %s is taken', (allow) => {
  expect(() => start(allow)).not.toThrow();
});

test.each([
  ['writefile', '--allow: Unknown tool: writefile. Did you mean write_file?'],
  ['read_file', '--allow: read_file is safe and runs without asking. Leave this --allow out.'],
  ['eval_form:src/**', '--allow: eval_form changes no file, so it takes no glob. Give --allow eval_form.'],
  ['write_file:src/', '--allow: src/ matches no file, only src/** does.'],
  ['Write File', '--allow must be TOOL or TOOL:GLOB, not Write File.'],
  [':src/**', '--allow must be TOOL or TOOL:GLOB, not :src/**.'],
])('--allow %s is told', (allow, text) => {
  expect(() => start(allow)).toThrow(new UsageError(text));
});
