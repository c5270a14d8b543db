// docs/architecture.md says which part of src/ may import which; the sources do not do otherwise.

import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { filesOf, type Hit, hitLines, hitsIn, textOf } from './files.ts';

const SOURCES = filesOf('src', '.ts');

/** As Biome formats them, a static import ends its statement with the quoted name; a dynamic one opens with it. */
const STATIC = /^(?:(?:(?:import|export) [^'\n]*|\}) from|import) '([^'\n]+)';$/gm;
const DYNAMIC = /\bimport\(\s*'([^'\n]+)'/g;
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

/** Returns the part of src/ that the file at PATH belongs to: its folder, or its own name. */
function partOf(path: string): string {
  const [, first = ''] = path.split('/');
  return first.replace(/\.ts$/, '');
}

/** Returns what the import FOUND in the file at PATH stands for in the table. */
function targetOf({ path, found }: Hit): string {
  if (found.startsWith('.')) return partOf(join(dirname(path), found));
  if (found.startsWith('node:')) return 'node:';
  const [scope, name] = found.split('/');
  return found.startsWith('@') ? `${scope}/${name}` : String(scope);
}

const table = readTable();

test('every part of src/ has its row, and there is one for everything', () => {
  const parts = new Set(SOURCES.map(partOf));
  expect([...parts].filter((part) => !table.has(part))).toEqual([]);
  expect(table.get('main')).toEqual(['everything']);
});

test('every import is one that can be read', () => {
  const imports = SOURCES.flatMap((path) => hitsIn(path, STATIC));
  const statements = SOURCES.flatMap((path) => hitsIn(path, /^import\b/gm));
  expect(imports.length).toBeGreaterThanOrEqual(statements.length);
  expect(hitLines(SOURCES.flatMap((path) => hitsIn(path, UNREADABLE)))).toEqual([]);
});

test('every import goes in a direction that the table allows', () => {
  const imports = SOURCES.flatMap((path) => [...hitsIn(path, STATIC), ...hitsIn(path, DYNAMIC)]);
  const wrong = imports.filter((hit) => {
    const part = partOf(hit.path);
    const target = targetOf(hit);
    const allowed = table.get(part) ?? [];
    return target !== part && !allowed.includes('everything') && !allowed.includes(target);
  });
  expect(hitLines(wrong)).toEqual([]);
});
