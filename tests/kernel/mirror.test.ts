// The tools of an image in the registry, and definitions that nobody vouches for.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CallError } from '../../src/errors.ts';
import type { ImageTools } from '../../src/image/image.ts';
import { readToolDefinition, toolDefinitionData } from '../../src/kernel/definition.ts';
import { ToolRegistry } from '../../src/kernel/registry.ts';
import { defineTool } from '../../src/kernel/tool.ts';
import { LispTools } from '../../src/tools/lisp.ts';

const tool = (name: string, description = 'It does.') =>
  defineTool({ name, description, parameters: [], handler: () => description });

const DEFINITION = {
  name: 'x',
  description: 'X.',
  parameters: [{ name: 'a', type: 'string', description: 'A', enum: ['b'], default: 'b' }],
  required: ['a'],
  safetyLevel: 'safe',
  categories: ['xref'],
};

describe('a mirror', () => {
  test('C19 S4.11 its tools come last, are replaced in place, and only they go', () => {
    const registry = new ToolRegistry();
    registry.register(tool('own'));
    registry.mirror.add(tool('one'));
    registry.mirror.add(tool('two'));
    registry.mirror.add(tool('one', 'Anew.'));
    expect(registry.listRegisteredTools()).toEqual(['own', 'one', 'two']);
    expect(registry.getTool('one')?.description).toBe('Anew.');
    registry.mirror.clear();
    expect([registry.listRegisteredTools(), registry.getTool('one')]).toEqual([['own'], null]);
  });

  test('S2.20 a name that is taken gets lisp_ before it, also when it is taken later', () => {
    const registry = new ToolRegistry(['reserved']);
    registry.register(tool('own'));
    expect(registry.mirror.add(tool('own')).name).toBe('lisp_own');
    expect(registry.mirror.add(tool('lisp_own')).name).toBe('lisp_lisp_own');
    expect(registry.mirror.add(tool('reserved')).name).toBe('lisp_reserved');
    expect(registry.mirror.add(tool('later'))).toMatchObject({ name: 'later' });
    const ours = registry.register(tool('later', 'Ours.'));
    expect(registry.getTool('later')).toBe(ours);
    expect(registry.getTool('lisp_later')).toMatchObject({ description: 'It does.' });
    expect(registry.mirror.add(tool('own', 'Anew.')).name).toBe('lisp_own');
    expect(registry.listRegisteredTools()).toEqual([
      'own',
      'later',
      'lisp_own',
      'lisp_lisp_own',
      'lisp_reserved',
      'lisp_later',
    ]);
  });

  test('who listens is told of every change until they stop', () => {
    const registry = new ToolRegistry();
    let changes = 0;
    const stop = registry.onChange(() => {
      changes += 1;
    });
    registry.mirror.add(tool('one'));
    registry.mirror.clear();
    registry.mirror.clear();
    expect(changes).toBe(2);
    stop();
    registry.mirror.add(tool('one'));
    expect(changes).toBe(2);
  });

  test('one too many is refused', () => {
    const registry = new ToolRegistry();
    for (let index = 0; index < 200; index += 1) registry.mirror.add(tool(`tool_${index}`));
    expect(() => registry.mirror.add(tool('more'))).toThrow(
      'Tool "more" was not added, because an image can have at most 200 tools of its own. Give it the name of a tool that is no longer needed.',
    );
    expect(registry.mirror.add(tool('tool_7', 'Anew.')).description).toBe('Anew.');
  });
});

describe('a definition', () => {
  test('is read as it was written', () => {
    const made = defineTool({ ...readToolDefinition(DEFINITION), handler: () => 1 });
    expect(toolDefinitionData(made)).toEqual(DEFINITION);
  });

  test.each([
    [{ name: 5 }, 'Tool "5" must have a name and a description that are strings, and a list of categories.'],
    [{ parameters: {} }, 'Tool "x" must have a list of parameters.'],
    [{ required: 'a' }, 'Tool "x" must have a list of the names of required parameters.'],
    [{ name: 'a'.repeat(51) }, `Tool "${'a'.repeat(51)}" has a name of 51 characters; the limit is 50.`],
    [
      { description: 'a'.repeat(9870) },
      'Tool "x" has a definition of 10048 characters as JSON; the limit is 10000. Shorten its texts.',
    ],
    [
      { parameters: [{ name: 'a', type: 'string', description: 5 }] },
      `Tool "x" has a parameter 'a' with a wrong description, which must be a string.`,
    ],
    [
      { parameters: [{ name: 'a', type: 'array', items: 'string' }] },
      `Tool "x" has a parameter 'a' with a wrong items, which must be a type.`,
    ],
    [
      { parameters: [{ name: 'a', type: 'number', maximum: null }] },
      `Tool "x" has a parameter 'a' with a wrong maximum, which must be a number.`,
    ],
    [
      { parameters: [{ name: '__proto__', type: 'string' }] },
      `Tool "x" has a parameter with the invalid name '__proto__': a name must be a letter, then up to 63 of a to z, A to Z, 0 to 9, _, . and -.`,
    ],
    [
      { parameters: [{ name: 'a'.repeat(65), type: 'string' }] },
      `Tool "x" has a parameter with the invalid name '${'a'.repeat(65)}': a name must be a letter, then up to 63 of a to z, A to Z, 0 to 9, _, . and -.`,
    ],
    [{ parameters: [null] }, 'Tool "x" has a parameter without a name.'],
    [
      { name: 'no-snake' },
      'Tool "no-snake" must have a name in snake_case: a lower-case letter, then a to z, 0 to 9 and _.',
    ],
  ])('S4.2 with %j is refused', (wrong, text) => {
    const registry = new ToolRegistry();
    const tools: ImageTools = new LispTools(
      registry.mirror,
      () => expect.fail(),
      () => [],
    );
    expect(() => tools.register({ ...DEFINITION, ...wrong }, true)).toThrow(new CallError(text));
    expect(registry.tools()).toEqual([]);
  });

  test('S4.2 that is any value at all becomes a valid tool or a CallError', () => {
    const field = <Value>(value: Value) => fc.oneof(fc.constant(value), fc.jsonValue());
    const records = fc.record(
      Object.fromEntries(Object.entries(DEFINITION).map(([key, value]) => [key, field<unknown>(value)])),
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), records), (data) => {
        try {
          defineTool({ ...readToolDefinition(data), handler: () => 1 });
        } catch (error) {
          expect(error).toBeInstanceOf(CallError);
        }
      }),
      { numRuns: 2000 },
    );
  });
});

describe('the level', () => {
  const register = (safetyLevel: string, atStart: boolean) => {
    const registry = new ToolRegistry();
    new LispTools(
      registry.mirror,
      () => expect.fail(),
      () => [],
    ).register({ ...DEFINITION, safetyLevel }, atStart);
    const { declaredLevel, safetyLevel: level, approvedAs } = registry.getTool('x') ?? tool('none');
    return [level, declaredLevel, approvedAs];
  };

  test.each([
    ['safe', ['cautious', 'safe', 'x#1']],
    ['cautious', ['cautious', undefined, 'x#1']],
    ['dangerous', ['dangerous', undefined, 'x#1']],
  ])(
    'S2.20 C3 of a tool that declares %s is that at the start, and later at least cautious',
    (declared, later) => {
      expect(register(declared, true)).toEqual([declared, undefined, undefined]);
      expect(register(declared, false)).toEqual(later);
    },
  );
});
