// What a change of a library from day to day costs an agent: calls, and tokens of what it sends and reads.

import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { expect, test } from 'vitest';
import { APPROVE, openWorkspace } from '../files/sessions.ts';
import { libraries, SOURCES } from '../libraries.ts';

libraries('esrap');

test('a function gets a parameter and another name in 3 calls and 500 tokens', async () => {
  const at = await openWorkspace({ args: ['--replay', 'off'] });
  try {
    cpSync(join(SOURCES, 'esrap'), join(at.root, 'esrap'), { recursive: true, dereference: true });
    for (const system of ['esrap', 'esrap/tests'])
      expect(await at.answer('load_system', { system })).toContain(`Loaded system ${system}`);
    at.human = () => APPROVE;
    const edit = { definition: 'esrap:find-rule', old: '(symbol)', new: '(symbol &optional errorp)' };
    const calls: [string, object][] = [
      ['read_definition', { name: 'esrap:find-rule' }],
      ['edit_definitions', { edits: [edit], load: true }],
      ['rename_symbol', { name: 'esrap:find-rule', to: 'lookup-rule' }],
    ];
    let tokens = 0;
    for (const [name, args] of calls) {
      const answer = await at.answer(name, args);
      expect(answer).not.toContain('failed');
      tokens += countTokens(JSON.stringify(args)) + countTokens(answer);
    }
    console.log(`${calls.length} calls, ${tokens} tokens sent and read`);
    expect(tokens).toBeLessThanOrEqual(500);
    const form =
      '(list (nth-value 1 (find-symbol "LOOKUP-RULE" :esrap)) (fboundp \'esrap::find-rule) (esrap:lookup-rule \'nothing t))';
    expect(await at.answer('eval_form', { form })).toBe('(:EXTERNAL NIL NIL)');
  } finally {
    await at.close();
  }
});
