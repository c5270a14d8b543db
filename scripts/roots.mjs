// Makes bare Debian and Ubuntu systems with debootstrap, each in a folder below CACHE, and keeps them. enter-root.mjs runs
// commands in them. Both need root.

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

export const PROJECT = join(import.meta.dirname, '..');
export const CACHE = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'live-lisp-roots');

/** The user with sudo in each root. */
export const USER = 'lisper';
export const UID = '1000';
const INCLUDED = 'make,git,ca-certificates,sudo';
const UBUNTU = ['jammy', 'noble'];

/** Returns COMMAND as root runs it: with sudo, unless this is root. */
export function asRoot(command) {
  return process.getuid?.() === 0 ? command : ['sudo', '-n', ...command];
}

function succeeds([program, ...args]) {
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0;
}

/** Runs COMMAND as root. */
export function sudo(...command) {
  const [program, ...args] = asRoot(command);
  execFileSync(program, args, { stdio: ['ignore', 'ignore', 'inherit'] });
}

/** Returns why this machine can have no roots, if it cannot. */
export function obstacle() {
  if (process.platform !== 'linux') return 'it needs Linux';
  if (!succeeds(['git', '-C', PROJECT, 'rev-parse', 'HEAD']))
    return 'it needs a git checkout, which it clones';
  if (!succeeds(asRoot(['true']))) return 'it needs root, or sudo without a password';
  if (!succeeds(asRoot(['debootstrap', '--version'])))
    return 'it needs debootstrap: apt-get install debootstrap';
  if (!succeeds(asRoot(['unshare', '--mount', '--pid', '--fork', 'mount', '-t', 'tmpfs', 'none', '/mnt'])))
    return 'this system lets nobody mount a file system, as in a container';
  return undefined;
}

/** Returns the release of Debian or Ubuntu that this machine has. */
export function ownRelease() {
  const text = existsSync('/etc/os-release') ? readFileSync('/etc/os-release', 'utf8') : '';
  return /^VERSION_CODENAME=(\w+)/m.exec(text)?.[1] ?? 'bookworm';
}

/** Returns a folder below CACHE named NAME. MAKE, which gets another one, fills it the first time. */
async function kept(name, make) {
  const folder = join(CACHE, name);
  if (existsSync(folder)) return folder;
  const unfinished = `${folder}.unfinished`;
  sudo('rm', '-rf', unfinished);
  mkdirSync(CACHE, { recursive: true });
  await make(unfinished);
  sudo('mv', unfinished, folder);
  return folder;
}

/** Returns the folder of a bare RELEASE: what debootstrap makes, a user with sudo, and no Lisp. */
export function bareRoot(release) {
  return kept(release, (folder) => {
    // A machine rarely has the keys of the other distribution.
    const options = UBUNTU.includes(release) ? ['--components=main,universe', '--no-check-gpg'] : [];
    sudo('debootstrap', '--variant=minbase', `--include=${INCLUDED}`, ...options, release, folder);
    const settings = `printf "127.0.0.1 localhost\\n127.0.1.1 $(hostname)\\n" >>/etc/hosts
      useradd --uid ${UID} --create-home --shell /bin/bash ${USER}
      echo '${USER} ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/${USER}
      echo 'Defaults env_keep += "http_proxy https_proxy no_proxy"' >>/etc/sudoers.d/${USER}
      echo 'Acquire::Check-Valid-Until "false";' >/etc/apt/apt.conf.d/99-snapshot`;
    sudo('chroot', folder, 'sh', '-ec', settings);
  });
}

/** Returns the folder of a root named NAME, a copy of the bare RELEASE. PREPARE, which gets its folder, is called once. */
export async function preparedRoot(name, release, prepare) {
  const bare = await bareRoot(release);
  return kept(`${release}-for-${name}`, async (folder) => {
    sudo('cp', '-a', bare, folder);
    await prepare(folder);
  });
}

/** Returns whether there is a root named NAME that is a copy of RELEASE. */
export function hasRoot(name, release) {
  return existsSync(join(CACHE, `${release}-for-${name}`));
}

/** Removes the copies of `inFreshRoot` that a process left which was killed. */
function removeAbandoned() {
  for (const name of readdirSync(CACHE)) {
    const [, pid] = /-fresh-(\d+)$/.exec(name) ?? [];
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) sudo('rm', '-rf', join(CACHE, name));
  }
}

/** Calls USE with a copy of the bare RELEASE, which is removed afterwards. */
export async function inFreshRoot(release, use) {
  const bare = await bareRoot(release);
  removeAbandoned();
  const folder = join(CACHE, `${release}-fresh-${process.pid}`);
  sudo('cp', '-a', bare, folder);
  try {
    return await use(folder);
  } finally {
    sudo('rm', '-rf', folder);
  }
}

/** Clones the commit that is checked out to PATH in ROOT; OWNER owns it. */
export function cloneInto(root, path, owner) {
  const clone = join(CACHE, `clone-${process.pid}`);
  execFileSync('git', ['clone', '--quiet', '--depth', '1', `file://${PROJECT}`, clone]);
  sudo('rm', '-rf', root + path);
  sudo('mv', clone, root + path);
  sudo('chroot', root, 'chown', '-R', `${owner}:${owner}`, path);
}

/** Returns a folder with Node VERSION and npm, as packages of npm. */
export function nodeFolder(version) {
  return kept(`node-${version}`, (folder) => {
    mkdirSync(folder);
    execFileSync('npm', ['install', '--loglevel=error', '--prefix', folder, `node@${version}`, 'npm@10'], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  });
}
