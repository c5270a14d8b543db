// docs/architecture.md says which part of src/ may import which; the sources do not do otherwise.

import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { filesOf, type Hit, hitLines, hitsIn, textOf } from './files.ts';
import { importsOf, STATIC } from './source-imports.ts';

const SOURCES = filesOf('src', '.ts');

const UNREADABLE = /\b(?:import|require)\((?!\s*').*/g;

/** Returns the cells of the table below the heading `Import directions`: what each folder may import. */
function readTable(): Map<string, string[]> {
  const [, section = ''] = textOf('docs/architecture.md').split(/^## Import directions$/m);
  const rows = [
    ...section
      .split(/^## /m, 1)
      .join()
      .matchAll(/^\| `([^`]+)` *\| (.+?) *\|$/gm),
  ];
  return new Map(rows.map(([, folder = '', cell = '']) => [folder, cell.replaceAll('`', '').split(', ')]));
}

const table = readTable();

/** Returns the part of src/ that the file at PATH belongs to. That is the room of a folder that has a row in ROWS, else
 *  the folder, or its own name. */
function partOf(path: string, rows: ReadonlyMap<string, string[]> = table): string {
  const [, first = '', second = ''] = path.split('/');
  const room = `${first}/${second}`;
  return rows.has(room) ? room : first.replace(/\.ts$/, '');
}

/** Returns what the import FOUND in the file at PATH stands for in the table. */
function targetOf({ path, found }: Hit): string {
  if (found.startsWith('.')) return partOf(join(dirname(path), found));
  if (found.startsWith('node:')) return 'node:';
  const [scope, name] = found.split('/');
  return found.startsWith('@') ? `${scope}/${name}` : String(scope);
}

test('every part of src/ has its row, and there is one for everything', () => {
  const parts = new Set(SOURCES.map((path) => partOf(path)));
  expect([...parts].filter((part) => !table.has(part))).toEqual([]);
  expect(table.get('main')).toEqual(['everything']);
});

test('every row is for files that are there', () => {
  const parts = new Set(SOURCES.map((path) => partOf(path)));
  expect([...table.keys()].filter((part) => !parts.has(part))).toEqual([]);
});

test('a room with a row of its own is a part, and any other belongs to its folder', () => {
  const rows = new Map([
    ['image', []],
    ['image/wire', []],
  ]);
  const paths = ['src/image/wire/frames.ts', 'src/image/own/a/b.ts', 'src/image/image.ts', 'src/main.ts'];
  expect(paths.map((path) => partOf(path, rows))).toEqual(['image/wire', 'image', 'image', 'main']);
});

test('every import is one that can be read', () => {
  const imports = SOURCES.flatMap((path) => hitsIn(path, STATIC));
  const statements = SOURCES.flatMap((path) => hitsIn(path, /^import\b/gm));
  expect(imports.length).toBeGreaterThanOrEqual(statements.length);
  expect(hitLines(SOURCES.flatMap((path) => hitsIn(path, UNREADABLE)))).toEqual([]);
});

test('what is imported when it is needed is a file of ours', () => {
  // Code from the cache of V8 cannot import a module of Node in its run.
  expect(hitLines(SOURCES.flatMap((path) => hitsIn(path, /\bimport\('(?!\.).*/g)))).toEqual([]);
});

test('every import goes in a direction that the table allows', () => {
  const imports = SOURCES.flatMap((path) => importsOf(path));
  const wrong = imports.filter((hit) => {
    const part = partOf(hit.path);
    const target = targetOf(hit);
    const allowed = table.get(part) ?? [];
    return target !== part && !allowed.includes('everything') && !allowed.includes(target);
  });
  expect(hitLines(wrong)).toEqual([]);
});

test('only the rooms of our own process know of processes and of what Linux tells about them', () => {
  const knows = /node:child_process|['"`]\/proc\b(?!\/self\/fd)/g;
  // A client's own program is run to set that client up, a command starts a session or opens the page, and readers are kept out of these
  // places.
  const others = SOURCES.filter(
    (path) =>
      !/^src\/(?:image\/(?:process|sandbox)\/|install\/program\.ts$|command\/(?:page|sessions)\.ts$|terminal\/|files\/regular\.ts$)/.test(
        path,
      ),
  );
  expect(SOURCES.filter((path) => hitsIn(path, knows).length > 0).length).toBeGreaterThan(3);
  expect(hitLines(others.flatMap((path) => hitsIn(path, knows)))).toEqual([]);
});
