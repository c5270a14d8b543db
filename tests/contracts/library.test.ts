// The package as a program has it: what importing it does, and that its search and its registry are one (C28).

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { PROJECT } from '../harness.ts';

/** Returns what a new process prints that runs SCRIPT, in which `lisp` is the built library. */
function inNewProcess(script: string, env: Record<string, string> = {}): unknown {
  const library = JSON.stringify(join(PROJECT, 'dist', 'index.js'));
  const whole = `import * as lisp from ${library};\n${script}\nlisp.closeImage();`;
  const printed = execFileSync(process.execPath, ['--input-type=module', '--eval', whole], {
    encoding: 'utf8',
    env: { ...process.env, ...env },
  });
  return JSON.parse(printed);
}

const PRINT = 'const print = (value) => console.log(JSON.stringify(value));';
const MINE = `
  const mine = lisp.defineTool({
    name: 'paint_fence', description: 'Paint a fence.', parameters: [], handler: () => 'painted',
  });
  const found = () => lisp.searchTools({ query: 'paint my fence' }).tools.map(({ name }) => name);`;

describe('the search of the package', () => {
  test('C28 it finds a tool of the program, and no tool is counted for that', () => {
    const script = `${PRINT}${MINE}
      const before = [found(), lisp.registerAgentQTools()];
      lisp.registerTool(lisp.AGENT_Q_REGISTRY, mine);
      print([before, found(), lisp.TOOL_CATALOG.has('paint_fence'), lisp.registerAgentQTools()]);`;
    expect(inNewProcess(script)).toEqual([[[], 18], ['paint_fence'], true, 19]);
  });

  test('C28 a tool of the program is found before the eighteen are registered', () => {
    const script = `${PRINT}${MINE}
      lisp.registerTool(lisp.AGENT_Q_REGISTRY, mine);
      print([found(), lisp.listRegisteredTools(), lisp.getCatalogSummary().totalTools]);`;
    expect(inNewProcess(script)).toEqual([['paint_fence'], ['paint_fence'], 35]);
  });

  test('C28 C5 executeToolCall runs search_tools, over the same catalog', () => {
    const script = `${PRINT}${MINE}
      lisp.registerAgentQTools();
      lisp.registerTool(lisp.AGENT_Q_REGISTRY, mine);
      const args = { query: 'paint my fence' };
      const { success, result, data } = await lisp.executeToolCall({ name: 'search_tools', arguments: args });
      print([success, JSON.parse(result), data, lisp.executeSearchTools(args), lisp.listRegisteredTools().length]);`;
    const [success, text, data, direct, counted] = inNewProcess(script) as unknown[];
    expect([success, counted]).toEqual([true, 19]);
    expect(text).toMatchObject({ tools: [{ name: 'paint_fence', match: 'ranked' }] });
    expect([text, data]).toEqual([direct, direct]);
  });

  test('C28 S2.14 what the search finds can be called', () => {
    const script = `${PRINT}
      lisp.registerAgentQTools();
      const { success, result } = await lisp.executeToolCall({ name: 'image_status' });
      print([success, result.split('\\n')[0]]);`;
    expect(inNewProcess(script)).toEqual([
      true,
      'The Lisp image is not started; the next call that needs it starts it.',
    ]);
  });

  test('S4.12 S2.14 until the tools are registered none can be called', () => {
    const script = `${PRINT}print(await lisp.executeToolCall({ id: '1', name: 'search_tools' }));`;
    expect(inNewProcess(script)).toEqual({ id: '1', success: false, error: 'Unknown tool: search_tools' });
  });
});

describe('what a program gives wrongly', () => {
  const CALLS = ['null', 'undefined', '5', '{}', '{ name: 5 }', '{ name: null }'];
  const OPTIONS = ['null', '5', '{ approve: 5 }', '{ approve: null }', '{ approve: undefined }'];
  const VERDICTS = ['undefined', 'null', 'true', '{}', '{ kind: "yes" }', 'Promise.resolve()'];
  const FILTERS = ['{ categories: null }', '{ categories: "xref" }', 'null', '"safe"'];

  /** What each call of a kind fails with, in a process that has registered the tools. */
  let failures: Record<'calls' | 'options' | 'verdicts' | 'filters', string[]>;
  beforeAll(() => {
    const list = (calls: string[]) =>
      `await failuresOf([${calls.map((call) => `() => ${call}`).join(', ')}])`;
    failures = inNewProcess(`${PRINT}
      const failure = async (work) => {
        try { return (await work()).error ?? 'nothing'; } catch (error) { return error.name + ': ' + error.message; }
      };
      const failuresOf = async (works) => {
        const told = [];
        for (const work of works) told.push(await failure(work));
        return told;
      };
      lisp.registerAgentQTools();
      const write = { name: 'write_file', arguments: { path: 'never/x', content: '' } };
      print({
        calls: ${list(CALLS.map((call) => `lisp.executeToolCall(${call})`))},
        options: ${list(OPTIONS.map((each) => `lisp.executeToolCall({ name: 'nope' }, ${each})`))},
        verdicts: ${list(VERDICTS.map((each) => `lisp.executeToolCall(write, { approve: () => (${each}) })`))},
        filters: ${list(FILTERS.map((filter) => `lisp.getAgentQTools(${filter})`))},
      });`) as typeof failures;
  });

  test('S2.9 S4.13 what is no call is told', () => {
    expect(failures.calls).toEqual([
      'A call must be an object with the name of a tool and its arguments, not null.',
      'A call must be an object with the name of a tool and its arguments, not undefined.',
      'A call must be an object with the name of a tool and its arguments, not the number 5.',
      'The name of a call must be a string that names a tool, not undefined.',
      'The name of a call must be a string that names a tool, not the number 5.',
      'The name of a call must be a string that names a tool, not null.',
    ]);
  });

  test('S2.9 what are no options of a call is told', () => {
    expect(failures.options).toEqual([
      'The options of a call must be an object, such as { approve }, not null.',
      'The options of a call must be an object, such as { approve }, not the number 5.',
      'approve must be a function that asks a human and returns what they said, not the number 5.',
      'Unknown tool: nope',
      'Unknown tool: nope',
    ]);
  });

  test('S2.12 an approve that returns no verdict approves nothing, and is told', () => {
    const reported =
      'The function approve did not return what the human said, so nothing was done. It must return an object whose kind is approved, modified, denied or unanswered.';
    expect(failures.verdicts).toEqual(VERDICTS.map(() => reported));
  });

  test('S4.5 S4.6 what is no filter is told', () => {
    expect(failures.filters).toEqual([
      'CallError: categories must be a list of names, such as ["xref"], not null.',
      'CallError: categories must be a list of names, such as ["xref"], not a string.',
      'CallError: The filter must be an object, such as { categories: ["xref"] }, not null.',
      'CallError: The filter must be an object, such as { categories: ["xref"] }, not a string.',
    ]);
  });
});

describe('importing the package', () => {
  test('C28 S4.12 it builds nothing: what cannot be assembled is told by the first call that needs it', () => {
    // Whoever assembles the parts reads the environment.
    const script = `${PRINT}
      const thrown = (work) => { try { return work(); } catch (error) { return error.message; } };
      print([
        lisp.listRegisteredTools(),
        lisp.AGENT_Q_REGISTRY.revision,
        thrown(() => lisp.registerAgentQTools()),
        thrown(() => lisp.searchTools({})),
        await lisp.executeToolCall({ id: '1', name: 'eval_form' }),
      ]);`;
    const reported = '--replay must be on or off, not perhaps.';
    const failed = { id: '1', success: false, error: reported };
    expect(inNewProcess(script, { LIVE_LISP_REPLAY: 'perhaps' })).toEqual([
      [],
      0,
      reported,
      reported,
      failed,
    ]);
  });
});
