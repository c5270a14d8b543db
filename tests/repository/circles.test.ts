// No file of src/ imports itself through others, also not for its types: each can be read after those it names.

import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { filesOf } from './files.ts';
import { importsOf } from './source-imports.ts';

type Graph = ReadonlyMap<string, readonly string[]>;

/** Returns which files each of the files at PATHS imports. */
function graphOf(paths: readonly string[]): Graph {
  return new Map(
    paths.map((path) => [
      path,
      importsOf(path)
        .filter(({ found }) => found.startsWith('.'))
        .map(({ found }) => join(dirname(path), found)),
    ]),
  );
}

/** Returns all that is reached from START in GRAPH by at least one step. */
function reached(graph: Graph, start: string): Set<string> {
  const found = new Set<string>();
  const open = [...(graph.get(start) ?? [])];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (found.has(next)) continue;
    found.add(next);
    open.push(...(graph.get(next) ?? []));
  }
  return found;
}

/** Returns the circles of GRAPH, each as the sorted list of all that reach each other. */
function circlesIn(graph: Graph): string[][] {
  const reach = new Map([...graph.keys()].map((file) => [file, reached(graph, file)]));
  const circles = [...graph.keys()]
    .filter((file) => reach.get(file)?.has(file))
    .map((file) =>
      [...graph.keys()].filter((each) => reach.get(file)?.has(each) && reach.get(each)?.has(file)),
    );
  return [...new Set(circles.map((files) => files.sort().join(' ')))].map((files) => files.split(' '));
}

test('no file of src/ imports itself through others', () => {
  expect(circlesIn(graphOf(filesOf('src', '.ts')))).toEqual([]);
});

test('every import leads to a file that was looked at', () => {
  const graph = graphOf(filesOf('src', '.ts'));
  const targets = [...graph.values()].flat();
  expect(targets.length).toBeGreaterThan(graph.size);
  expect(targets.filter((target) => !graph.has(target))).toEqual([]);
});

test('the measure sees circles of one, two and three files, and nothing else', () => {
  const graph = new Map([
    ['a', ['b', 'd']],
    ['b', ['c']],
    ['c', ['a']],
    ['d', ['e', 'f']],
    ['e', ['d']],
    ['f', ['g', 'h']],
    ['g', ['h']],
    ['h', []],
    ['i', ['i', 'a']],
  ]);
  expect(circlesIn(graph)).toEqual([['a', 'b', 'c'], ['d', 'e'], ['i']]);
});

test('imports of types count, over several lines and within a type', () => {
  const text = [
    "import type { A } from './a.ts';",
    "import {\n  type B,\n} from './b.ts';",
    "export type { C } from './c.ts';",
    "type D = import('./d.ts').D;",
    "import './e.ts';",
  ].join('\n');
  const found = importsOf('src/example.ts', text).map((hit) => hit.found);
  expect(found.sort()).toEqual(['./a.ts', './b.ts', './c.ts', './d.ts', './e.ts']);
});
