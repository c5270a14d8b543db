// What registries, clients and Docker are told of the package fits the package.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT } from '../harness.ts';
import { BUILT_IN } from '../names.ts';
import { FILES, filesOf, hitLines, hitsIn, textOf } from './files.ts';

interface Package {
  name: string;
  version: string;
  author: string;
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
  expect(PACKAGE.keywords).toContain('mcp-server');
});

test('each manifest has the version of the package', () => {
  const wanted = { name: PACKAGE.name, version: PACKAGE.version };
  for (const path of [...PLUGINS, 'gemini-extension.json', 'manifest.json'])
    expect(json(path)).toMatchObject(wanted);
});

test('nothing runs a package by a name that is not ours on a registry: plugins start the command that is installed', () => {
  for (const path of ['plugin/.mcp.json', 'gemini-extension.json']) {
    expect(json(path)).toMatchObject({ mcpServers: { 'live-lisp': { command: 'live-lisp' } } });
  }
  const shipped = FILES.filter((path) => /^(?:src|scripts|plugin|docs|README)|\.json$/.test(path));
  expect(
    hitLines(shipped.flatMap((path) => hitsIn(path, /npx -y|"npx"|install (?:-g|--global) live-lisp/g))),
  ).toEqual([]);
});

test('the bundles come with the licence of each package that is in them', () => {
  const notices = readFileSync(join(PROJECT, 'dist', 'THIRD_PARTY_NOTICES.txt'), 'utf8');
  const packages = [...notices.matchAll(/^-{80}\n\n(\S+) \S+ \((?:MIT|BSD-3-Clause|ISC|Apache-2\.0)\)$/gm)];
  const named = packages.map(([, name]) => name);
  expect(named).toEqual(
    expect.arrayContaining(['@modelcontextprotocol/server', 'diff', 'picomatch', 'stemmer']),
  );
  expect(named.length).toBe(notices.split('-'.repeat(80)).length - 1);
  expect(PACKAGE.files).toContain('dist');
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

test('the bundle asks for the workspace, since its host starts the server in no folder of the user', () => {
  const { server, user_config } = json<{
    server: { mcp_config: { args: string[] } };
    user_config: { workspace: { type: string; required: boolean } };
  }>('manifest.json');
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the host of the bundle puts the answer there.
  expect(server.mcp_config.args.slice(1)).toEqual(['--root', '${user_config.workspace}']);
  expect(user_config.workspace).toMatchObject({ type: 'directory', required: true });
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

test('workflows name actions by commit, which no one can move, and say which version that is', () => {
  const uses = filesOf('.github/workflows', '.yml').flatMap((path) => hitsIn(path, /\buses: *(.*)/g));
  expect(uses.length).toBeGreaterThan(5);
  const byTag = uses.filter(({ found }) => !/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(found));
  expect(hitLines(byTag)).toEqual([]);
});
