// What registries, clients and Docker are told of the package fits the package.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT } from '../harness.ts';
import { BUILT_IN } from '../names.ts';
import { textOf } from './files.ts';

interface Package {
  name: string;
  version: string;
  author: string;
  mcpName: string;
  homepage: string;
  keywords: string[];
  bugs: { url: string };
  repository: { url: string };
  files: string[];
}

function json<Shape>(path: string): Shape {
  return JSON.parse(textOf(path)) as Shape;
}

const PACKAGE = json<Package>('package.json');
const PLUGINS = ['.claude-plugin', '.codex-plugin', '.cursor-plugin'].map(
  (name) => `plugin/${name}/plugin.json`,
);

test('package.json says whose the package is, and where it is at home', () => {
  const home = 'https://github.com/live-lisp/live-lisp';
  expect([PACKAGE.homepage, PACKAGE.bugs.url, PACKAGE.repository.url, PACKAGE.author]).toEqual([
    `${home}#readme`,
    `${home}/issues`,
    `git+${home}.git`,
    'The live-lisp authors',
  ]);
  expect(PACKAGE.mcpName).toBe('io.github.live-lisp/live-lisp');
  expect(PACKAGE.keywords).toContain('mcp-server');
});

test('each manifest has the version of the package, also where it starts one', () => {
  const wanted = { name: PACKAGE.name, version: PACKAGE.version };
  for (const path of [...PLUGINS, 'gemini-extension.json', 'manifest.json'])
    expect(json(path)).toMatchObject(wanted);
  const npx = { command: 'npx', args: ['-y', `${PACKAGE.name}@${PACKAGE.version}`] };
  for (const path of ['plugin/.mcp.json', 'gemini-extension.json']) {
    expect(json(path)).toMatchObject({ mcpServers: { 'live-lisp': npx } });
  }
  expect(json('server.json')).toMatchObject({
    name: PACKAGE.mcpName,
    version: PACKAGE.version,
    packages: [{ registryType: 'npm', identifier: PACKAGE.name, version: PACKAGE.version }],
  });
});

test('what they name is there', () => {
  const { plugins } = json<{ plugins: { source: string }[] }>('.claude-plugin/marketplace.json');
  expect(plugins.map(({ source }) => source)).toEqual(['./plugin']);
  for (const path of PLUGINS.slice(1)) {
    const { mcpServers, skills } = json<{ mcpServers: string; skills: string }>(path);
    for (const named of [mcpServers, skills]) expect(existsSync(join(PROJECT, 'plugin', named))).toBe(true);
  }
  const { server } = json<{ server: { entry_point: string } }>('manifest.json');
  expect(server.entry_point).toBe('dist/live-lisp.js');
  expect(PACKAGE.files).toContain('manifest.json');
});

test('the registry takes its description, which has at most 100 characters', () => {
  expect(json<{ description: string }>('server.json').description.length).toBeLessThanOrEqual(100);
});

test('the skill says when to use it, and names tools that there are', () => {
  const text = textOf('plugin/skills/live-lisp/SKILL.md');
  expect(text).toMatch(/^---\nname: live-lisp\ndescription: \S.{20,1000}\n---\n/);
  const named = new Set([...text.matchAll(/`([a-z]+(?:_[a-z]+)+)`/g)].map(([, name = '']) => name));
  const tools = BUILT_IN.map(([name]) => name);
  expect(named.size).toBeGreaterThan(10);
  expect([...named].filter((name) => !tools.includes(name))).toEqual([]);
});

test('the Dockerfile copies files that are there, and what the build makes', () => {
  const copies = [...textOf('Dockerfile').matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, files = '']) =>
    files.split(' '),
  );
  const ignored = textOf('.dockerignore').trim().split('\n');
  expect(copies.length).toBeGreaterThan(5);
  expect(copies.filter((path) => !existsSync(join(PROJECT, path)) || ignored.includes(path))).toEqual([]);
  const made = [...textOf('Dockerfile').matchAll(/^COPY --from=(\w+) (\S+)/gm)].map((copy) => copy.slice(1));
  expect(made).toEqual([['build', '/build/dist']]);
});
