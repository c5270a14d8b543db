// Builds the Dockerfile with buildah, and has an MCP client load a file of the workspace in what comes out. A bare Debian with
// Node stands in for the image that the Dockerfile begins with, so none is downloaded.

import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { network } from './enter-root.mjs';
import { asRoot, bareRoot, nodeFolder, obstacle, PROJECT } from './roots.mjs';
import { callTool, inTemporaryFolder, withServer } from './session.mjs';

const [BASE, IMAGE] = ['localhost/live-lisp-base', 'localhost/live-lisp-checked'];
/** So buildah needs neither namespaces nor cgroups of its own. */
const ISOLATION = ['--isolation', 'chroot'];

/** Returns COMMAND of buildah as root runs it. */
function buildah(...command) {
  return asRoot(['buildah', ...command]);
}

/** Runs COMMAND of buildah, and returns what it prints. */
function run(...command) {
  const [program, ...args] = buildah(...command);
  return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim();
}

/** Makes the image BASE, in which are node, npm and a user of that name, as in the image of Node. */
async function makeBase() {
  const { env, certificates } = network();
  const variables = {
    ...env,
    PATH: '/opt/node/node_modules/.bin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  };
  const container = run('from', 'scratch');
  run('add', container, await bareRoot('bookworm'), '/');
  run('add', container, await nodeFolder('20'), '/opt/node');
  if (certificates !== '') {
    variables.NODE_EXTRA_CA_CERTS = '/etc/machine-certificates.pem';
    run('add', container, certificates, variables.NODE_EXTRA_CA_CERTS);
  }
  run('run', ...ISOLATION, container, '--', 'useradd', '--create-home', 'node');
  run('config', ...Object.entries(variables).flatMap((pair) => ['--env', pair.join('=')]), container);
  run('commit', '--rm', container, BASE);
}

/** Returns what the Dockerfile runs when a container starts. */
function entrypoint() {
  const text = readFileSync(join(PROJECT, 'Dockerfile'), 'utf8');
  return JSON.parse(/^ENTRYPOINT (\[.*\])$/m.exec(text)[1]);
}

/** Runs the image over a workspace with a file, as its users do, and throws when that cannot be loaded. */
async function tryImage() {
  const container = run('from', IMAGE);
  await inTemporaryFolder(async (folder) => {
    chmodSync(folder, 0o777);
    writeFileSync(join(folder, 'answer.lisp'), '(print (* 6 7))\n');
    const mount = ['--volume', `${folder}:/workspace`, '--user', 'node'];
    const [command, ...args] = buildah('run', ...ISOLATION, ...mount, container, '--', ...entrypoint());
    await withServer({ command, args, folder }, async (client) => {
      const { text } = await callTool(client, 'load_file', { path: 'answer.lisp' });
      if (!/^42 *$/m.test(text)) throw new Error(`load_file answered: ${text}`);
    });
  });
  run('rm', container);
}

const why = obstacle();
if (why !== undefined) console.log(`The Dockerfile is left out: ${why}`);
else {
  await makeBase();
  run('build', ...ISOLATION, '--network', 'host', '--build-arg', `NODE=${BASE}`, '--tag', IMAGE, PROJECT);
  await tryImage();
  run('rmi', BASE, IMAGE);
  console.log('The Dockerfile is built, and its image loads a file of the workspace.');
}
