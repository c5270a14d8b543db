// Decides what registries and clients are told of the package: one manifest for each, all from package.json.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT } from './session.mjs';

/** Characters of a line, as the formatter has it. */
const LINE = 110;

/** Returns VALUE as JSON in the project's format: a list of words stands in one line when it has room there. */
function json(value) {
  const text = JSON.stringify(value, null, 2).replace(
    /^(.*)\[\n((?: *".*",?\n)+) *\]/gm,
    (all, head, items) => {
      const line = `${head}[${items.trim().replace(/\n */g, ' ')}]`;
      return line.length < LINE ? line : all;
    },
  );
  return `${text}\n`;
}

/** Returns what each of the manifests is, by its path in the project. */
export function manifests() {
  const { name, version, description, keywords, homepage, repository, license, author, engines } = JSON.parse(
    readFileSync(join(PROJECT, 'package.json'), 'utf8'),
  );
  const website = homepage.replace(/#.*/, '');
  const url = repository.url.replace(/^git\+|\.git$/g, '');
  // What a person installed, and no package by its name: until the package is published its name is anybody's.
  const server = { mcpServers: { [name]: { command: name } } };
  const plugin = {
    name,
    version,
    description,
    author: { name: author, url },
    homepage: website,
    repository: url,
    license,
    keywords,
  };
  const listed = { name, source: './plugin', description };
  const parts = { mcpServers: './.mcp.json', skills: './skills/' };
  return new Map(
    Object.entries({
      '.claude-plugin/marketplace.json': { name, description, owner: { name: author }, plugins: [listed] },
      'plugin/.claude-plugin/plugin.json': plugin,
      'plugin/.codex-plugin/plugin.json': {
        ...plugin,
        ...parts,
        interface: {
          displayName: name,
          shortDescription: description,
          category: 'Development',
          websiteURL: website,
        },
      },
      'plugin/.cursor-plugin/plugin.json': { ...plugin, ...parts },
      'plugin/.mcp.json': server,
      'gemini-extension.json': { name, version, description, ...server },
      'manifest.json': {
        manifest_version: '0.3',
        name,
        version,
        description,
        author: { name: author, url },
        repository: { type: 'git', url },
        homepage: website,
        license,
        keywords,
        server: {
          type: 'node',
          entry_point: 'dist/live-lisp.js',
          mcp_config: {
            command: 'node',
            // biome-ignore lint/suspicious/noTemplateCurlyInString: the host puts the bundle's folder and the answer there.
            args: ['${__dirname}/dist/live-lisp.js', '--root', '${user_config.workspace}'],
          },
        },
        user_config: {
          workspace: {
            type: 'directory',
            title: 'Workspace',
            description: 'The folder of your Lisp project: live-lisp reads, edits and loads its files',
            required: true,
          },
        },
        compatibility: { platforms: ['darwin', 'linux'], runtimes: { node: engines.node } },
      },
    }).map(([file, value]) => [file, json(value)]),
  );
}
