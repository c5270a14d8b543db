// Runs commands in a root that roots.mjs has made, with the network and the downloads of this machine.

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { asRoot, CACHE, nodeFolder, sudo, UID } from './roots.mjs';

const ENTER = join(import.meta.dirname, 'enter-root.sh');
const PATH = '/opt/node/node_modules/.bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

function npmSetting(name) {
  const value = execFileSync('npm', ['config', 'get', name], { cwd: homedir(), encoding: 'utf8' }).trim();
  return value === 'null' || value === 'undefined' ? '' : value;
}

/** Returns what npm needs to reach what it reaches on this machine: variables, and a file of certificates or ''. */
export function network() {
  const proxies = Object.entries(process.env).filter(([name]) => /^(?:https?|no)_proxy$/i.test(name));
  return {
    env: { ...Object.fromEntries(proxies), npm_config_registry: npmSetting('registry') },
    certificates: process.env.NODE_EXTRA_CA_CERTS || npmSetting('cafile'),
  };
}

/** Gives ROOT the resolver and the certificates of this machine, and returns the variables with which npm works there. */
function withNetwork(root) {
  sudo('cp', '-L', '/etc/resolv.conf', `${root}/etc/resolv.conf`);
  const { env, certificates } = network();
  if (certificates === '') return env;
  const copy = '/etc/machine-certificates.pem';
  sudo('cp', '-L', certificates, root + copy);
  return { ...env, NODE_EXTRA_CA_CERTS: copy };
}

/** Returns a folder for what npm downloads for USER, in all roots. */
function npmFolder(user) {
  const folder = join(CACHE, `npm-${user}`);
  mkdirSync(folder, { recursive: true });
  sudo('chown', user === 'root' ? '0' : UID, folder);
  return folder;
}

/** Links the packages that apt has downloaded from the folder FROM to TO. Two roots cannot use one folder: apt locks it. */
function linkPackages(from, to) {
  sudo('sh', '-c', 'mkdir -p "$1" && { cp -ln "$0"/*.deb "$1" 2>/dev/null || true; }', from, to);
}

/** Resolves with whether CHILD succeeded and what it wrote, which goes to the file LOG, if any, at once. */
async function finished(child, log) {
  const file = log === undefined ? undefined : createWriteStream(log);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
      file?.write(text);
    });
  }
  const [code] = await once(child, 'close');
  return { ok: code === 0, output };
}

/** Runs the shell COMMAND in ROOT as USER in FOLDER. Node NODE is on PATH, and MOUNTS are folders of this machine at
 *  folders there; without PROC there is no /proc. Writes to the file LOG, if any, as it goes. Resolves with whether it
 *  succeeded, and what it wrote. */
export async function runIn(
  root,
  { user = 'root', folder = '/', node, mounts, env, proc = true, log },
  command,
) {
  const home = user === 'root' ? '/root' : `/home/${user}`;
  const all = { [npmFolder(user)]: `${home}/.npm`, [await nodeFolder(node)]: '/opt/node', ...mounts };
  const [kept, there] = [
    join(CACHE, `apt-${basename(root).split('-')[0]}`),
    `${root}/var/cache/apt/archives`,
  ];
  linkPackages(kept, there);
  const variables = {
    HOME: home,
    PATH,
    LANG: 'C.UTF-8',
    CI: 'true',
    NO_COLOR: '1',
    ...withNetwork(root),
    ...env,
  };
  const [program, ...args] = asRoot([
    ...['env', `NO_PROC=${proc ? '' : 1}`, 'unshare', '--mount', '--pid', '--fork', '--kill-child'],
    ...['sh', ENTER, root, user, ...Object.entries(all).map((pair) => pair.join(':')), '--'],
    ...['env', ...Object.entries(variables).map((pair) => pair.join('='))],
    ...['sh', '-c', `cd ${folder} && ${command}`],
  ]);
  const result = await finished(spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] }), log);
  linkPackages(there, kept);
  return result;
}
