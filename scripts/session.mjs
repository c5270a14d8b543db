// Decides how the scripts talk to a server: a real MCP client, in a temporary copy of fixtures/demo.

import { cpSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

export const PROJECT = join(import.meta.dirname, '..');
export const SERVER = join(PROJECT, 'dist', 'live-lisp.js');

/** Makes an empty temporary folder, calls USE with its path, removes it, and returns what USE returned. */
export async function inTemporaryFolder(use) {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'live-lisp-'));
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Starts COMMAND with ARGS as an MCP server in FOLDER, calls USE with a client of it, and ends both. APPROVE answers its
 *  questions; without it the client cannot be asked. */
export async function withServer({ command, args = [], folder, env = {}, approve }, use) {
  const transport = new StdioClientTransport({
    command,
    args,
    cwd: folder,
    // No image that somebody else runs is used.
    env: {
      ...process.env,
      XDG_STATE_HOME: join(dirname(folder), '.state'),
      LIVE_LISP_SERVING: join(dirname(folder), '.serving'),
      ...env,
    },
    stderr: 'inherit',
  });
  const capabilities = approve === undefined ? {} : { elicitation: { form: {} } };
  const client = new Client({ name: 'live-lisp-scripts', version: '1.0.0' }, { capabilities });
  if (approve !== undefined)
    client.setRequestHandler('elicitation/create', async ({ params }) => approve(params));
  await client.connect(transport);
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

/** Returns the environment in which ASDF finds only what the workspace has, and writes what it compiles into the folder
 *  TEMPORARY. So the answers depend neither on the libraries of the machine, nor on the ASDF of Debian's cl-asdf. */
export function asdfEnvironment(temporary) {
  return {
    ASDF_OUTPUT_TRANSLATIONS: `(:output-translations :ignore-inherited-configuration (t ("${temporary}/compiled/" :implementation)))`,
    CL_SOURCE_REGISTRY: '(:source-registry :ignore-inherited-configuration)',
  };
}

/** Starts the built server in a temporary copy of fixtures/demo, which paths are then relative to, and calls USE with a
 *  client of it. Nobody is asked before a file is written. What ASDF compiles stays in a temporary folder too. FILES of
 *  the fixtures are copied beside it. */
export async function withDemo(use, files = []) {
  return inTemporaryFolder(async (temporary) => {
    const folder = join(temporary, 'demo');
    cpSync(join(PROJECT, 'fixtures', 'demo'), folder, { recursive: true });
    for (const file of files) cpSync(join(PROJECT, 'fixtures', file), join(folder, basename(file)));
    const env = asdfEnvironment(temporary);
    const dangerous = ['write_file', 'propose_file_edit', 'edit_definitions', 'restart_image'];
    const allowed = dangerous.flatMap((tool) => ['--allow', tool]);
    const args = [SERVER, '--root', '.', ...allowed];
    return withServer({ command: process.execPath, args, folder, env }, use);
  });
}

/** Calls TOOL with ARGS through CLIENT and returns its whole text and whether it failed. It may take MS milliseconds. */
export async function callTool(client, tool, args, ms = 300_000) {
  // The server itself says when an image does not start; a slow machine takes over a minute for the first.
  const { content, isError } = await client.callTool({ name: tool, arguments: args }, { timeout: ms });
  return { text: content.map(({ text }) => text).join('\n\n'), failed: isError === true };
}
