// Checks the package as a user gets it: packs it, and installs the tarball in an empty folder. Then it evaluates
// through the live-lisp command there, and compiles and runs a program that imports the library. It runs the tarball by
// npx too, which installs nothing.

import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { callTool, inTemporaryFolder, PROJECT, withServer } from './session.mjs';

function npm(cwd, ...args) {
  execFileSync('npm', [...args, '--loglevel=error'], { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
}

/** Packs the project into FOLDER and returns the tarball's path. */
function pack(folder) {
  npm(PROJECT, 'pack', '--ignore-scripts', '--pack-destination', folder);
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz'));
  if (tarball === undefined) throw new Error('npm pack made no tarball');
  return join(folder, tarball);
}

/** Installs TARBALL in FOLDER: without the network, unless the package has dependencies. */
function install(tarball, folder) {
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
  const { dependencies = {} } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8'));
  const needed = Object.keys(dependencies);
  npm(folder, 'install', needed.length === 0 ? '--offline' : '--prefer-offline', tarball);
  return needed;
}

/** Throws when the live-lisp that is installed in FOLDER does not list its tools or evaluate; returns how many
 *  tools there are. */
async function use(folder) {
  const command = join(folder, 'node_modules', '.bin', 'live-lisp');
  return withServer({ command, folder, env: { XDG_STATE_HOME: join(folder, '.state') } }, async (client) => {
    const { tools } = await client.listTools();
    const { text } = await callTool(client, 'eval_form', { form: '(+ 1 2)' });
    if (text !== '3') throw new Error(`(+ 1 2) gave ${text}`);
    return tools.length;
  });
}

/** Throws when npx runs TARBALL in an empty FOLDER, and it does not tell its version or does not evaluate. */
function runByNpx(tarball, folder) {
  mkdirSync(folder);
  const { version } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8'));
  const env = {
    ...process.env,
    XDG_STATE_HOME: join(folder, '.state'),
    LIVE_LISP_SERVING: join(folder, '.serving'),
    npm_config_cache: join(folder, '.npm'),
  };
  const run = (...args) => {
    const words = ['-y', '--package', tarball, 'live-lisp', ...args];
    return execFileSync('npx', words, { cwd: folder, env, encoding: 'utf8', stdio: 'pipe' }).trim();
  };
  const printed = [run('--version'), run('call', 'eval_form', '{"form":"(+ 1 2)"}')];
  // The call has started a session in the background.
  run('stop');
  if (printed.join(' ') !== `${version} 3`) throw new Error(`npx printed ${printed.join(' and ')}`);
}

/** Programs that import the library, and what they print at last. */
const PROGRAMS = {
  'fixtures/library.ts': '[["who_calls"],[100,false],true,"who_calls",["search_tools","search_tools"]]\n',
  'examples/agent-loop.ts':
    '> write_file\nTool execution denied by user\nDone with 18 tools to choose from.\n',
};

/** Throws when one of PROGRAMS does not compile in FOLDER with the package's types, or does not print what it
 *  should. */
function useLibrary(folder) {
  const manifest = { private: true, type: 'module' };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  const tsc = join(PROJECT, 'node_modules', '.bin', 'tsc');
  const options = ['--strict', '--module', 'nodenext', '--target', 'es2022', '--lib', 'es2023,dom'];
  for (const path of Object.keys(PROGRAMS)) copyFileSync(join(PROJECT, path), join(folder, basename(path)));
  const sources = Object.keys(PROGRAMS).map((path) => basename(path));
  execFileSync(tsc, [...options, '--types', '', ...sources], { cwd: folder, stdio: 'inherit' });
  for (const [path, ending] of Object.entries(PROGRAMS)) {
    const name = basename(path, '.ts');
    const printed = execFileSync(process.execPath, [`${name}.js`], { cwd: folder, encoding: 'utf8' });
    if (!printed.endsWith(ending)) throw new Error(`${path} printed ${printed}`);
  }
}

try {
  await inTemporaryFolder(async (temporary) => {
    const folder = join(temporary, 'user');
    const tarball = pack(temporary);
    const needed = install(tarball, folder);
    runByNpx(tarball, join(temporary, 'empty'));
    const tools = await use(folder);
    useLibrary(folder);
    console.log(`${tools} tools; dependencies: ${needed.join(', ') || 'none'}`);
  });
} catch (error) {
  console.error(`The packed program does not work: ${error.message}`);
  process.exitCode = 1;
}
