// S2 and S4 below the protocol: what a tool may be, and what the registry does with it.

import { describe, expect, test } from 'vitest';
import { PARAMETER_TYPES, type Parameter } from '../../src/kernel/parameter.ts';
import { ToolRegistry } from '../../src/kernel/registry.ts';
import { inputSchema } from '../../src/kernel/schema.ts';
import {
  defineTool,
  SAFETY_LEVELS,
  type SafetyLevel,
  type Tool,
  type ToolDefinition,
} from '../../src/kernel/tool.ts';
import { probe, VALID } from './tools.ts';

/** Returns VALID with CHANGES that the types would not allow. */
function broken(changes: { [Key in keyof ToolDefinition]?: unknown }): ToolDefinition {
  return { ...VALID, ...changes } as ToolDefinition;
}

const STRING: Parameter = { name: 'symbol', type: 'string', description: 'A name' };

describe('a tool', () => {
  test('S2.1 a tool has its parts, with the defaults of the contract', () => {
    const tool = defineTool(VALID);
    expect(tool).toMatchObject({
      name: 'probe',
      description: 'Notes what it was called with.',
      parameters: [STRING],
    });
    expect({ required: tool.required, safetyLevel: tool.safetyLevel, categories: tool.categories }).toEqual({
      required: [],
      safetyLevel: 'safe',
      categories: [],
    });
    expect(tool.handler).toBe(VALID.handler);
  });

  test('S2.1 parts that are given are kept', () => {
    const given = {
      required: ['symbol'],
      safetyLevel: 'cautious' as const,
      categories: ['introspection', 'xref'],
    };
    expect(defineTool({ ...VALID, ...given })).toMatchObject(given);
  });

  test('S2.1 a part that is given as undefined has its default', () => {
    const tool = defineTool({ ...VALID, required: undefined, safetyLevel: undefined, categories: undefined });
    expect(tool).toMatchObject({ required: [], safetyLevel: 'safe', categories: [] });
  });

  test.each(['describe_symbol', 'a', 'x_2_y'])('S2.2 the name %s is accepted', (name) => {
    expect(defineTool({ ...VALID, name }).name).toBe(name);
  });

  test.each(['', 'describeSymbol', 'function-arglist', '1a', 'a\n', 'aé'])(
    'S2.2 C16 the name %j is rejected, and told',
    (name) => {
      expect(() => defineTool({ ...VALID, name })).toThrow(JSON.stringify(name));
    },
  );

  test('S2.3 a required name that is no parameter is rejected by name', () => {
    expect(() => defineTool({ ...VALID, required: ['symbol', 'culprit'] })).toThrow(
      'Tool "probe" requires \'culprit\', which is not one of its parameters.',
    );
  });

  test('S2.4 C3 there are three levels', () => {
    expect(SAFETY_LEVELS).toEqual(['safe', 'cautious', 'dangerous']);
    for (const safetyLevel of SAFETY_LEVELS)
      expect(defineTool({ ...VALID, safetyLevel }).safetyLevel).toBe(safetyLevel);
  });

  test.each(['', 'Safe', null])('S2.4 C3 the level %j is rejected', (safetyLevel) => {
    expect(() => defineTool(broken({ safetyLevel }))).toThrow(
      `Tool "probe" has the safety level ${safetyLevel}; valid are safe, cautious, dangerous.`,
    );
  });

  test.each(['string', 'boolean', 'number', 'object', 'array', 'integer'] as const)(
    'S2.5 C24 the type %s is accepted',
    (type) => {
      const tool = defineTool({ ...VALID, parameters: [{ ...STRING, type }] });
      const items = type === 'array' ? { items: {} } : {};
      expect(inputSchema(tool).properties.symbol).toEqual({ type, description: 'A name', ...items });
      expect(PARAMETER_TYPES).toContain(type);
    },
  );

  test.each(['', 'String', undefined])('S2.5 the type %j is rejected with its parameter', (type) => {
    expect(() => defineTool(broken({ parameters: [{ ...STRING, type }] }))).toThrow(/'symbol'/);
  });

  test.each(['name', 'description', 'parameters', 'handler'] as const)(
    'S2.6 a tool without %s is rejected',
    (part) => {
      expect(() => defineTool(broken({ [part]: undefined }))).toThrow(new RegExp(part));
      expect(() => defineTool(broken({ [part]: null }))).toThrow(new RegExp(part));
    },
  );

  test.each([null, 'tool'])('S2.6 %j is no tool', (junk) => {
    const text = 'A tool must be an object with a name, a description, parameters and a handler.';
    expect(() => defineTool(junk as unknown as ToolDefinition)).toThrow(text);
    expect(() => new ToolRegistry().register(junk as unknown as Tool)).toThrow(text);
  });

  test.each([
    [{ parameters: [null] }, 'Tool "probe" has a parameter without a name.'],
    [{ parameters: [STRING, STRING] }, 'Tool "probe" has two parameters named \'symbol\'.'],
    [{ required: 'symbol' }, 'Tool "probe" must have a list of the names of required parameters.'],
  ])('S2.6 S2.3 %j is told', (change, text) => {
    expect(() => defineTool(broken(change))).toThrow(text);
  });

  test('S2.6 a tool may have no parameters, but it must say so', () => {
    expect(inputSchema(defineTool({ ...VALID, parameters: [] }))).toEqual({ type: 'object', properties: {} });
  });
});

describe('the registry', () => {
  test('S4.1 the key is the name, and registering returns the tool', () => {
    const registry = new ToolRegistry();
    const { tool } = probe();
    expect(registry.register(tool)).toBe(tool);
    expect(registry.getTool('probe')).toBe(tool);
  });

  test('S4.1 C19 registering a name again replaces the tool and keeps its place', () => {
    const registry = new ToolRegistry();
    for (const name of ['one', 'two', 'three']) registry.register(probe({ name }).tool);
    const again = probe({ name: 'two', description: 'Another.' }).tool;
    expect(registry.register(again)).toBe(again);
    expect(registry.getTool('two')).toBe(again);
    expect(registry.listRegisteredTools()).toEqual(['one', 'two', 'three']);
  });

  test.each([
    ['name in kebab case', { name: 'kebab-case' }],
    ['description', { description: undefined }],
    ['level', { safetyLevel: 'deadly' as SafetyLevel }],
  ])('S4.2 a tool with a bad or missing %s is rejected and not registered', (_, change) => {
    const registry = new ToolRegistry();
    expect(() => registry.register({ ...probe().tool, ...change } as Tool)).toThrow();
    expect(registry.listRegisteredTools()).toEqual([]);
  });

  test.each(['nonexistent', 'Probe', 'pro-be', '__proto__'])(
    'S4.3 C1 %j is no registered name: null',
    (name) => {
      const registry = new ToolRegistry();
      registry.register(probe().tool);
      registry.register(probe({ name: 'pro_be' }).tool);
      expect(registry.getTool(name)).toBeNull();
    },
  );

  test('S4.4 the list of tools is a list of names in the order of registration', () => {
    const registry = new ToolRegistry();
    for (const name of ['zebra', 'ant', 'bee']) registry.register(probe({ name }).tool);
    expect(registry.listRegisteredTools()).toEqual(['zebra', 'ant', 'bee']);
    registry.listRegisteredTools().pop();
    expect(registry.listRegisteredTools()).toEqual(['zebra', 'ant', 'bee']);
  });

  test('S4.11 C19 nothing unregisters: changing what it gives changes nothing in it', () => {
    const registry = new ToolRegistry();
    registry.register(probe().tool);
    registry.tools().length = 0;
    const methods = Object.getOwnPropertyNames(ToolRegistry.prototype);
    expect(registry.listRegisteredTools()).toEqual(['probe']);
    expect(methods.filter((name) => /delete|remove|unregister|clear/i.test(name))).toEqual([]);
  });

  test('S4.12 a new registry is empty until tools are registered', () => {
    expect(new ToolRegistry().listRegisteredTools()).toEqual([]);
    expect(new ToolRegistry().getTool('describe_symbol')).toBeNull();
  });
});
