// Random edits of a real library, loaded from the workspace. After each the image agrees with the files, and the places of
// all else are right.

import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { definitionsIn } from '../../src/source/definitions.ts';
import { SourceText } from '../../src/source/text.ts';
import { TopLevelForms } from '../../src/source/top-level.ts';
import { sharedWorkspace } from '../files/sessions.ts';
import { libraries, SOURCES } from '../libraries.ts';
import { LONG } from '../long.ts';
import { randomFrom } from '../random.ts';

libraries('alexandria');

const ROUNDS = LONG ? 8 : 2;

let files: string[];
const at = sharedWorkspace({ args: ['--allow', 'edit_definitions'] });
beforeAll(async () => {
  cpSync(join(SOURCES, 'alexandria'), join(at.root, 'alexandria'), { recursive: true, dereference: true });
  files = readdirSync(join(at.root, 'alexandria'), { recursive: true, encoding: 'utf8' })
    .filter((name) => /alexandria-1\/(?!tests|package)[^/]*\.lisp$/.test(name))
    .map((name) => join('alexandria', name));
  expect(await at.answer('load_system', { system: 'alexandria' })).toMatch(/^Loaded system alexandria/);
});

function textOf(file: string): string {
  return readFileSync(join(at.root, file), 'utf8');
}

/** The functions and macros of FILE that one definition has, with their lines. */
function functionsOf(file: string): { name: string; line: number; text: string }[] {
  const source = new SourceText(textOf(file));
  const all = definitionsIn(new TopLevelForms(source, new Set(['SBCL'])))
    .filter(
      ({ operator, depth, name }) =>
        /^def(?:un|macro)$/.test(operator) && depth === 0 && !name.startsWith('('),
    )
    .map(({ name, start, end }) => ({
      name,
      line: source.positionAt(start).line,
      text: source.text.slice(start, end),
    }));
  return all.filter(({ name }) => all.filter((each) => each.name === name).length === 1);
}

async function edit(edit: object): Promise<string> {
  return at.answer('edit_definitions', { edits: [edit], package: 'alexandria', load: true });
}

test('random edits and their reverse', async () => {
  const random = randomFrom(7);
  const before = new Map(files.map((file) => [file, textOf(file)]));
  for (let round = 0; round < ROUNDS; round++) {
    const file = files[random(files.length)] ?? '';
    const functions = functionsOf(file);
    const chosen = functions[random(functions.length)];
    if (chosen === undefined) continue;
    const { name: definition, text } = chosen;
    const changed = `${text.slice(0, -1)}\n  ;; An edit: (\n  )`;
    const added = `(defun fresh-${round} () ${round})`;
    expect(await edit({ definition, text: changed })).toMatch(
      /^Changed alexandria\S+: lines?[\s\S]*\n\nLoaded 1 form of/,
    );
    expect(await edit({ definition, op: 'before', text: added })).toMatch(
      /^Changed[\s\S]*\n\nLoaded 1 form of/,
    );
    expect(textOf(file)).toBe(before.get(file)?.replace(text, () => `${added}\n\n${changed}`));
    const now = functionsOf(file);
    const others = [now[random(now.length)], now.at(-1), now.find(({ name }) => name === definition)];
    for (const other of others) {
      const reported = await at.answer('read_definition', { name: `alexandria::${other?.name}` });
      expect(reported).toContain(`${file}:${other?.line}`);
      expect(reported).toContain(other?.text);
      expect(reported).not.toContain('changed since');
    }
    expect(await at.answer('compare_image', { system: 'alexandria' })).toBe(
      'The image and system alexandria agree.',
    );
    expect(await edit({ definition: `fresh-${round}`, op: 'delete' })).toContain(
      `In the image but no longer in ${file}: function ALEXANDRIA::FRESH-${round}.`,
    );
    await at.answer('eval_form', {
      form: `(sb-ext:without-package-locks (fmakunbound 'alexandria::fresh-${round}))`,
    });
    await edit({ definition, old: '\n  ;; An edit: (\n  ', new: '' });
    expect(textOf(file)).toBe(before.get(file));
  }
  expect(await at.answer('compare_image', { system: 'alexandria' })).toBe(
    'The image and system alexandria agree.',
  );
});
