// S0.19: looking never changes what there is to look at.

import { expect, test } from 'vitest';
import { sharedFixture } from '../oracle.ts';

const fixture = sharedFixture();
const { session } = fixture;

const ODD_NAMES = [
  '',
  '|',
  'a|b c|',
  '\\',
  '::',
  ':new-keyword',
  'cl:new-name',
  'cl::new-name',
  'app::new-name',
  'a:b:c',
  '#:new-name',
  "#'new-name",
  '#.(intern "X")',
  '(setf new-name)',
  '(setf',
  '|new Name|',
  'a\0b',
  'x\ud800y',
  'keyword:new-name',
  '"string"',
];
const TOOLS: [string, string][] = [
  ['apropos_search', 'pattern'],
  ['who_calls', 'name'],
  ['describe_symbol', 'symbol'],
  ['function_arglist', 'symbol'],
  ['who_references', 'name'],
  ['list_package_symbols', 'package'],
  ['class_slots', 'class'],
  ['class_hierarchy', 'class'],
];

/** Evaluates the oracle's list of packages with new symbols; its own symbols are known from the first time on. */
function newSymbols(): Promise<string> {
  return session.eval('(contract-oracle::new-symbols)');
}

test('S0.19 the first lookup of each tool interns nothing', async () => {
  await session.eval('(contract-oracle::remember-symbols)');
  expect(await newSymbols()).toBe('NIL');
  await session.text('apropos_search', { pattern: 'helper' });
  await session.text('who_calls', { name: 'helper', package: 'APP', sites: true, internals: true });
  await session.text('describe_symbol', { symbol: 'helper', package: 'APP' });
  await session.text('function_arglist', { symbol: 'print-object', methods: true });
  await session.text('who_references', { name: '*print-base*', sites: true });
  await session.text('list_package_symbols', { package: 'APP', access: 'internal' });
  await session.text('class_slots', { class: 'standard-class' });
  await session.text('class_hierarchy', { class: 'condition' });
  expect(await newSymbols()).toBe('NIL');
});

test.each(TOOLS)(
  'S0.19 no lookup by %s of an odd or unknown %s interns anything',
  async (tool, parameter) => {
    await session.eval('(contract-oracle::remember-symbols)');
    expect(await newSymbols()).toBe('NIL');
    for (const name of ODD_NAMES) {
      for (const more of [{}, { package: name }]) {
        const { isError, text } = await session.call(tool, { [parameter]: name, ...more });
        expect(isError, `${tool} ${JSON.stringify(name)}: ${text}`).toBe(false);
      }
    }
    expect(await newSymbols()).toBe('NIL');
  },
);

test('S0.19 no lookup with an odd type or page interns anything', async () => {
  await session.eval('(contract-oracle::remember-symbols)');
  for (const more of [
    { type: 'new-type' },
    { type: ':new-type' },
    { limit: -1 },
    { inherited: true, package: 'new-package' },
  ]) {
    await session.text('apropos_search', { pattern: 'new', ...more });
  }
  expect(await newSymbols()).toBe('NIL');
});

test('S0.6 the backend adds nothing to the external symbols of all packages but what LIVE-LISP has for users', async () => {
  const form = `(loop for package in (list-all-packages)
    when (search "LIVE-LISP." (package-name package))
      collect (loop for symbol being the external-symbols of package count symbol))`;
  expect(await session.eval(form)).toMatch(/^\((?:0 )+0\)$/);
  expect(await session.text('apropos_search', { pattern: 'make-json-object' })).toBe(
    "Found 0 symbols matching 'make-json-object':\n\n",
  );
});
