// S4 and S2.13 over the eighteen tools themselves, as a program that imports the package has them.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { toolsToSchema, toolToSchema } from '../../src/kernel/schema.ts';
import { defineTool, SAFETY_LEVELS, type SafetyLevel } from '../../src/kernel/tool.ts';
import { PROJECT, temporaryFolder } from '../harness.ts';
import * as builtIn from '../names.ts';
import { VALID } from './tools.ts';

// The registry of the library is one for a process, which runs other test files too. So this one is of modules that no
// other file gets.
vi.resetModules();
const library = await import('../../src/agent-q.ts');
afterAll(() => {
  vi.resetModules();
});

const EIGHTEEN = builtIn.EIGHTEEN.map(([name]) => name);

/** Returns the names of the tools that pass. */
function namesOf(filter?: Parameters<typeof library.getAgentQTools>[0]): string[] {
  return library.getAgentQTools(filter).map(({ name }) => name);
}

/** Returns what a new process prints that imports the built library and evaluates SCRIPT. */
function inNewProcess(script: string, env: Record<string, string> = {}): string {
  const library = JSON.stringify(join(PROJECT, 'dist', 'index.js'));
  const whole = `import * as lisp from ${library}; console.log(JSON.stringify(${script}));`;
  return execFileSync(process.execPath, ['--input-type=module', '--eval', whole], {
    encoding: 'utf8',
    env: { ...process.env, ...env },
  }).trim();
}

let counted: number;
beforeAll(() => {
  counted = library.registerAgentQTools(['--root', PROJECT]);
});
afterAll(() => library.closeImage());

describe('registering', () => {
  test('S4.9 C5 the built-in tools are 18, however often they are registered', () => {
    expect(counted).toBe(18);
    expect(library.registerAgentQTools()).toBe(18);
    expect(library.listRegisteredTools()).toEqual(EIGHTEEN);
  });

  test('S4.12 a new process has none before', () => {
    expect(inNewProcess('[lisp.listRegisteredTools(), lisp.getTool("eval_form")]')).toBe('[[],null]');
    expect(inNewProcess('[lisp.registerAgentQTools(), lisp.registerAgentQTools()]')).toBe('[18,18]');
  });

  test('flags in a later call are refused, since those of the image are fixed', () => {
    expect(() => library.registerAgentQTools(['--heap', '512MB'])).toThrow(
      "The options of this process's image are fixed already. Give the flags in the first call of registerAgentQTools, before any call of executeToolCall.",
    );
  });

  test('S2.11 a cautious tool of the program is recorded, also without the eighteen', () => {
    const state = temporaryFolder();
    const script = `(lisp.registerTool(lisp.AGENT_Q_REGISTRY, lisp.defineTool({name: 'mine', description: 'Mine.', parameters: [], safetyLevel: 'cautious', handler: () => 1})), await lisp.executeToolCall({name: 'mine'}))`;
    expect(inNewProcess(script, { XDG_STATE_HOME: state.path })).toBe(
      '{"id":null,"success":true,"result":"1","data":1}',
    );
    const lines = readFileSync(join(state.path, 'live-lisp', 'audit.jsonl'), 'utf8')
      .trim()
      .split('\n');
    state.remove();
    expect(lines.map((line) => JSON.parse(line).event)).toEqual(['begin', 'end']);
  });

  test('S4.1 S4.3 a tool of the program stands beside them', () => {
    const printed = inNewProcess(
      `[lisp.registerAgentQTools(), lisp.registerTool(lisp.AGENT_Q_REGISTRY, lisp.defineTool({name: 'mine', description: 'Mine.', parameters: [], handler: () => 1})).name, lisp.getTool('mine').name, lisp.registerAgentQTools()]`,
    );
    expect(printed).toBe('[18,"mine","mine",19]');
  });
});

describe('choosing', () => {
  test.each<[SafetyLevel | undefined, number]>([
    [undefined, 18],
    ['safe', 13],
    ['cautious', 16],
    ['dangerous', 18],
  ])('S4.5 C4 up to %s there are %i', (maxSafetyLevel, count) => {
    expect(namesOf(maxSafetyLevel && { maxSafetyLevel }).length).toBe(count);
  });

  test.each(['SAFE', null])('S4.5 the level %j is an error that lists the levels', (level) => {
    expect(() => namesOf({ maxSafetyLevel: level as SafetyLevel })).toThrow(
      `Unknown safety level ${level}; valid are safe, cautious, dangerous.`,
    );
  });

  test('S4.6 any of the categories may match; none, or no list, lets all pass', () => {
    expect(namesOf({ categories: ['diff'] })).toEqual(['propose_file_edit']);
    expect(namesOf({ categories: ['xref', 'clos'] })).toEqual([
      'who_calls',
      'who_references',
      'class_slots',
      'class_hierarchy',
    ]);
    expect(namesOf({ categories: [] })).toEqual(EIGHTEEN);
    expect(namesOf({ categories: ['no-such'] })).toEqual([]);
  });

  test('S4.7 both filters hold together: 8 tools of introspection are safe', () => {
    expect(namesOf({ maxSafetyLevel: 'safe', categories: ['introspection'] })).toEqual(EIGHTEEN.slice(0, 8));
  });

  test('S4.10 C4 the levels and categories are spread as the contract says', () => {
    const tools = library.getAgentQTools();
    const levels = SAFETY_LEVELS.map((level) => tools.filter((tool) => tool.safetyLevel === level).length);
    expect(levels).toEqual([13, 3, 2]);
    const categories = tools.flatMap((tool) => tool.categories);
    const counts = Object.fromEntries(
      [...new Set(categories)].map((each) => [each, categories.filter((other) => other === each).length]),
    );
    expect(counts).toEqual({
      introspection: 9,
      execution: 4,
      buffer: 4,
      diff: 1,
      xref: 2,
      clos: 2,
      packages: 1,
    });
    expect(
      namesOf({ maxSafetyLevel: 'cautious' }).filter(
        (name) => !namesOf({ maxSafetyLevel: 'safe' }).includes(name),
      ),
    ).toEqual(['macroexpand_form', 'eval_form', 'compile_form']);
    expect(library.getTool('propose_file_edit')?.categories).toEqual(['diff']);
  });
});

describe('schemas', () => {
  test('S2.13 a tool becomes a function schema', () => {
    const tool = defineTool({
      ...VALID,
      parameters: [
        { name: 'symbol', type: 'string', description: 'A name' },
        { name: 'names', type: 'array', description: 'Names', items: { type: 'string' } },
        { name: 'things', type: 'array', description: 'Things' },
      ],
      required: ['symbol'],
    });
    expect(toolToSchema(tool)).toEqual({
      type: 'function',
      function: {
        name: 'probe',
        description: 'Notes what it was called with.',
        parameters: {
          type: 'object',
          properties: {
            symbol: { type: 'string', description: 'A name' },
            names: { type: 'array', description: 'Names', items: { type: 'string' } },
            things: { type: 'array', description: 'Things', items: {} },
          },
          required: ['symbol'],
        },
      },
    });
  });

  test('S2.13 without required parameters the list of them is there, and empty', () => {
    const schema = toolToSchema(defineTool({ ...VALID, parameters: [] }));
    expect(schema.function.parameters).toEqual({ type: 'object', properties: {}, required: [] });
  });

  test('S4.8 the schemas come in the order of the tools', () => {
    const tools = library.getAgentQTools().reverse();
    expect(toolsToSchema(tools).map((each) => each.function.name)).toEqual(tools.map(({ name }) => name));
    expect(toolsToSchema([])).toEqual([]);
  });

  test('S2.13 every schema is valid for a strict validator of JSON Schema 2020-12', () => {
    for (const { function: each } of toolsToSchema(library.getAgentQTools())) {
      const ajv = new Ajv2020({ strict: true, strictRequired: true, allErrors: true });
      const validate = ajv.compile(each.parameters);
      expect(validate(Object.fromEntries(each.parameters.required.map((name) => [name, 'x'])))).toBe(true);
      expect(validate({}), each.name).toBe(each.parameters.required.length === 0);
    }
  });
});

describe('calls', () => {
  test('S4.13 results keep the ids of their calls; an unknown name is a failure', async () => {
    const calls = [
      { id: 'a', name: 'eval_form', arguments: { form: '(list 1 "a")' } },
      { id: 'b', name: 'nope', arguments: {} },
      { id: 'c', name: 'eval_form', arguments: '{"form": "(+ 1 2)"}' },
      { name: 'apropos_search', arguments: { pattern: 'mapcar', package: 'CL' } },
    ];
    const results = await Promise.all(calls.map((call) => library.executeToolCall(call)));
    expect(results).toMatchObject([
      { id: 'a', success: true, result: '(1 "a")' },
      { id: 'b', success: false, error: 'Unknown tool: nope' },
      { id: 'c', success: true, result: '3' },
      {
        id: null,
        success: true,
        result: "Found 1 symbol matching 'mapcar':\n\n  COMMON-LISP::MAPCAR [FUNCTION]",
      },
    ]);
  });

  test.each(['form', '[1]'])('arguments that are the text %j are no object', async (text) => {
    expect(await library.executeToolCall({ id: '1', name: 'eval_form', arguments: text })).toMatchObject({
      success: false,
      error: expect.stringMatching(
        /^The arguments of eval_form must be an object, not (a string|an array)\.$/,
      ),
    });
  });

  test('S2.11 C20 a dangerous call with nobody to ask is refused', async () => {
    const call = { id: '1', name: 'write_file', arguments: { path: 'never/x', content: '' } };
    expect(await library.executeToolCall(call)).toMatchObject({
      success: false,
      error: expect.stringContaining("needs a human's approval"),
    });
  });

  test('S2.12 who is asked decides', async () => {
    const call = { id: '1', name: 'write_file', arguments: { path: 'never/x', content: '' } };
    const asked: string[] = [];
    const result = await library.executeToolCall(call, {
      approve: ({ preview }) => {
        asked.push(preview.text);
        return { kind: 'denied' };
      },
    });
    expect(result).toEqual({ id: '1', success: false, error: 'Tool execution denied by user' });
    expect(asked.length).toBe(1);
  });

  test('S2.12 arguments that change while the human thinks are not what runs', async () => {
    const args = { path: 'never/x', content: 'harmless' };
    const seen: unknown[] = [];
    const tool = defineTool({
      ...VALID,
      name: 'mutable',
      safetyLevel: 'dangerous',
      handler: (given) => seen.push(given),
    });
    library.AGENT_Q_REGISTRY.register({
      ...tool,
      parameters: library.getTool('write_file')?.parameters ?? [],
    });
    await library.executeToolCall(
      { name: 'mutable', arguments: args },
      {
        approve: (question) => {
          args.content = 'evil';
          Object.assign(question.args, { content: 'evil' });
          return { kind: 'approved' };
        },
      },
    );
    expect(seen).toEqual([{ path: 'never/x', content: 'harmless' }]);
  });

  test('S2.9 a call that is null is a failure', async () => {
    const call = null as unknown as { name: string };
    expect(await library.executeToolCall(call)).toMatchObject({ success: false });
  });

  test('S2.9 a person who cannot be asked is no approval, and nothing is thrown', async () => {
    const call = { id: '1', name: 'write_file', arguments: { path: 'never/x', content: '' } };
    const approve = () => Promise.reject(new Error('the window was closed'));
    expect(await library.executeToolCall(call, { approve })).toEqual({
      id: '1',
      success: false,
      error: 'Tool error: the window was closed',
    });
  });
});
