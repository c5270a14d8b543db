// What is learned from searches that led to a call, and what nobody can make of that.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Catalog } from '../../src/catalog/catalog.ts';
import { SearchMemory } from '../../src/catalog/memory.ts';
import { searchTools } from '../../src/catalog/search.ts';
import { searchToolsTool } from '../../src/catalog/search-tools.ts';
import { Executor } from '../../src/kernel/executor.ts';
import { writeAll } from '../../src/records/later.ts';
import { workspaceFile } from '../../src/records/repl-history.ts';
import { SearchRecords } from '../../src/records/search-records.ts';
import { startSession, temporaryFolder } from '../harness.ts';
import { registryOf } from './catalogs.ts';
import { probe } from './tools.ts';

const TOOLS = [
  { name: 'show_text', description: 'Show the text of a function.' },
  { name: 'find_callers', description: 'Find the callers of a function.' },
  { name: 'tell_state', description: 'Tell what runs.' },
];

/** Returns a server's parts over the records in the file PATH. */
function partsOver(path: string) {
  const registry = registryOf(...TOOLS.map((each) => probe({ ...each, parameters: [] }).tool));
  const catalog = new Catalog(registry);
  registry.registerUncounted(searchToolsTool(catalog));
  const memory = new SearchMemory(new SearchRecords(path));
  catalog.memory = memory;
  const executor = new Executor(registry, { onEnd: (call) => memory.ended(call) });
  const found = (query: string) => searchTools({ query }, catalog).tools.map(({ name }) => name);
  const search = (query: string) => executor.execute('search_tools', { query });
  const call = (name: string) => executor.execute(name, {});
  return { found, search, call, executor, memory };
}

const folder = temporaryFolder();
let files = 0;
const newFile = () => join(folder.path, `searches-${files++}.jsonl`);

describe('a search that led to a call', () => {
  test('is remembered, also by the next server', async () => {
    const path = newFile();
    const { found, search, call } = partsOver(path);
    expect(found('who keeps it busy')).toEqual([]);
    await search('busy function');
    await call('find_callers');
    expect(found('who keeps it busy')).toEqual(['find_callers']);
    writeAll();
    expect(partsOver(path).found('who keeps it busy')).toEqual(['find_callers']);
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({
      time: expect.any(String),
      query: 'busy function',
      tool: 'find_callers',
    });
  });

  test('the searches before it count too, where they listed the tool', async () => {
    const { memory, search, call } = partsOver(newFile());
    await search('function that is hot');
    await search('runs');
    await search('callers');
    await call('find_callers');
    await call('tell_state');
    expect(['find_callers', 'tell_state'].map((name) => memory.requestsFor(name))).toEqual([
      ['callers', 'function that is hot'],
      [],
    ]);
  });

  test('a call that failed, one that was not listed and one of code teach nothing', async () => {
    const { memory, search, call, executor } = partsOver(newFile());
    await search('callers');
    await call('nope');
    await call('tell_state');
    await call('find_callers');
    await executor.executeForCode('search_tools', { query: 'callers' });
    await call('find_callers');
    await search('callers');
    await executor.executeForCode('find_callers', {});
    expect(memory.requestsFor('find_callers')).toEqual([]);
  });
});

describe('what nobody can make of it', () => {
  /** Returns parts that have learned COUNT requests of WORDS for tell_state. */
  function poisoned(words: string, count: number) {
    const path = newFile();
    const records = new SearchRecords(path);
    for (let at = 0; at < count; at++) records.add({ query: `${words} ${at}`, tool: 'tell_state' });
    writeAll();
    return partsOver(path);
  }

  test('forty requests are remembered of a tool, the newest ones', () => {
    const { memory } = poisoned('run', 100);
    expect(memory.requestsFor('tell_state')).toHaveLength(40);
    expect(memory.requestsFor('tell_state')[0]).toBe('run 99');
  });

  test('no number of requests makes a tool likelier than one whose name or text has the word', () => {
    const one = poisoned('find callers function', 1).found('find callers of my function');
    const many = poisoned('find callers function', 1000).found('find callers of my function');
    expect(many).toEqual(one);
    expect(many[0]).toBe('find_callers');
    expect(many).toContain('tell_state');
  });

  test('C27 no name is hidden', () => {
    const { found } = poisoned('find_callers show_text', 1000);
    expect(found('find_callers')[0]).toBe('find_callers');
    expect(found('show_text find_callers').slice(0, 2)).toEqual(['show_text', 'find_callers']);
    expect(found('please use find_callers')[0]).toBe('find_callers');
  });

  test.each([
    ['', []],
    ['{"time":"t","query":"blue moon","tool":"find_callers"}\n{"time":"t","que', ['blue moon']],
    ['null\n[]\n{"time":"t","query":5,"tool":"find_callers"}\n{"query":"x","tool":"find_callers"}\n\0\n', []],
    ['{"time":"t","query":"blue moon","tool":"__proto__"}\n', []],
  ])('a file that holds %j is read as far as it is whole', async (text, expected) => {
    const path = newFile();
    const { writeFileSync } = await import('node:fs');
    writeFileSync(path, text);
    const { memory, found } = partsOver(path);
    expect(memory.requestsFor('find_callers')).toEqual(expected);
    expect(found('blue moon')).toEqual(expected.length > 0 ? ['find_callers'] : []);
  });
});

describe('through the server', () => {
  test('it is kept in the folder of the user, and with --no-memory nothing is', async () => {
    const state = temporaryFolder();
    const root = temporaryFolder();
    const env = { XDG_STATE_HOME: state.path };
    const file = workspaceFile(join(state.path, 'live-lisp', 'searches'), root.path);
    const session = await startSession({ args: ['--root', root.path], env });
    await session.text('search_tools', { query: 'which llama functions are there' });
    await session.text('apropos_search', { pattern: 'llama' });
    const { tools } = JSON.parse(await session.text('search_tools', { query: 'llamas' }));
    await session.close();
    expect(tools[0]).toMatchObject({ name: 'apropos_search' });
    expect(readFileSync(file, 'utf8')).toContain('which llama functions are there');
    const other = await startSession({ args: ['--root', root.path, '--no-memory'], env });
    expect(JSON.parse(await other.text('search_tools', { query: 'llamas' })).tools).toEqual([]);
    await other.close();
  });
});
