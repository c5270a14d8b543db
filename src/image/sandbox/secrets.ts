// Lists files and folders in the user's home that contain secrets, such as keys, tokens and passwords. They are hidden
// from sandboxed code.

import { readdir } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { UnresponsiveFolderError, withFileTimeout } from '../../files/answering.ts';
import { isInside, realPath } from '../../paths.ts';
import { existingPaths } from './protected.ts';

/** Paths relative to the home, grouped by the kind of program that they belong to. */
const SECRETS: { readonly [owner: string]: readonly string[] } = {
  keys: ['.ssh', '.putty', '.gnupg', '.age', '.config/age', '.config/sops', '.password-store', '.pki'],
  keyrings: [
    '.local/share/keyrings',
    '.local/share/kwalletd',
    '.local/share/pass',
    '.config/1Password',
    '.config/op',
    '.config/Bitwarden',
    '.config/Bitwarden CLI',
    '.config/keepassxc',
    '.config/KeePass',
    '.config/keybase',
    '.local/share/keybase',
    '.vault-token',
  ],
  clouds: [
    '.aws',
    '.azure',
    '.config/gcloud',
    '.oci',
    '.bluemix',
    '.aliyun',
    '.config/doctl',
    '.config/hcloud',
    '.config/scw',
    '.config/linode-cli',
    '.config/rclone',
    '.fly',
    '.railway',
    '.config/heroku',
    '.config/netlify',
    '.local/share/com.vercel.cli',
    '.config/.wrangler',
    '.wrangler',
    '.cloudflared',
    '.config/ngrok',
    '.ngrok2',
    '.s3cfg',
    '.boto',
    '.terraform.d/credentials.tfrc.json',
    '.terraformrc',
    '.pulumi/credentials.json',
    '.databrickscfg',
    '.snowsql',
    '.snowflake',
    '.config/snowflake',
    '.tsh',
    '.kube',
    '.docker',
    '.config/containers',
    '.config/helm',
  ],
  forges: [
    '.git-credentials',
    '.config/git/credentials',
    '.netrc',
    '.authinfo',
    '.authinfo.gpg',
    '.config/gh',
    '.config/glab-cli',
    '.config/hub',
    '.config/tea',
    '.subversion/auth',
    '.sentryclirc',
  ],
  registries: [
    '.npmrc',
    '.yarnrc',
    '.yarnrc.yml',
    '.config/configstore',
    '.pypirc',
    '.config/pip',
    '.pip',
    '.config/pypoetry',
    '.condarc',
    '.gem/credentials',
    '.local/share/gem/credentials',
    '.bundle/config',
    '.cargo/credentials',
    '.cargo/credentials.toml',
    '.m2/settings.xml',
    '.m2/settings-security.xml',
    '.gradle/gradle.properties',
    '.composer/auth.json',
    '.config/composer/auth.json',
    '.nuget/NuGet/NuGet.Config',
    '.hex/hex.config',
    '.config/hub-tool',
  ],
  databases: ['.pgpass', '.my.cnf', '.mylogin.cnf', '.mongorc.js', '.dbshell', '.config/pgcli'],
  models: [
    '.claude.json',
    '.claude/.credentials.json',
    // When CLAUDE_CONFIG_DIR is set, .claude.json is in that folder (see MOVED).
    '.claude/.claude.json',
    '.codex',
    '.gemini/oauth_creds.json',
    '.gemini/.env',
    '.local/share/opencode/auth.json',
    '.config/github-copilot',
    '.copilot',
    '.config/openai',
    '.config/io.datasette.llm',
    '.cache/huggingface/token',
    '.cache/huggingface/stored_tokens',
    '.huggingface',
    '.kaggle',
  ],
  // The programs with these secrets listen on a TCP port of this machine. With such a secret, sandboxed code could make
  // the program evaluate code outside the sandbox.
  servers: [
    '.slime-secret',
    '.sly-secret',
    '.emacs.d/server',
    '.config/emacs/server',
    '.Xauthority',
    '.erlang.cookie',
    '.config/erlang/.erlang.cookie',
    '.local/share/jupyter/runtime',
  ],
  mail: [
    '.msmtprc',
    '.config/msmtp',
    '.mbsyncrc',
    '.config/isyncrc',
    '.offlineimaprc',
    '.config/offlineimap',
    '.fetchmailrc',
    '.config/evolution',
    '.config/neomutt',
    '.muttrc',
    '.mutt',
  ],
  chats: [
    '.config/Slack',
    '.config/discord',
    '.config/Signal',
    '.config/Element',
    '.local/share/TelegramDesktop',
    '.config/weechat',
    '.irssi',
  ],
  editors: [
    '.config/Code/User/globalStorage',
    '.config/Cursor/User/globalStorage',
    '.config/VSCodium/User/globalStorage',
  ],
  wallets: ['.bitcoin', '.ethereum', '.electrum', '.config/solana', '.monero'],
  histories: [
    '.bash_history',
    '.zsh_history',
    '.local/share/fish/fish_history',
    '.psql_history',
    '.mysql_history',
  ],
  browsers: [
    '.mozilla',
    '.config/mozilla',
    '.librewolf',
    '.thunderbird',
    '.config/google-chrome',
    '.config/google-chrome-beta',
    '.config/google-chrome-unstable',
    '.config/chromium',
    '.config/BraveSoftware',
    '.config/microsoft-edge',
    '.config/vivaldi',
    '.config/opera',
    '.config/epiphany',
    '.local/share/epiphany',
    '.config/qutebrowser',
    '.local/share/qutebrowser',
    '.var/app',
    'snap/firefox',
    'snap/chromium',
    'snap/thunderbird',
  ],
};

/** Maps a folder in the home to the environment variable that can name another folder in its place. */
const MOVED: { readonly [folder: string]: string } = {
  '.config/': 'XDG_CONFIG_HOME',
  '.local/share/': 'XDG_DATA_HOME',
  '.cache/': 'XDG_CACHE_HOME',
  '.cargo/': 'CARGO_HOME',
  '.gradle/': 'GRADLE_USER_HOME',
  '.composer/': 'COMPOSER_HOME',
  '.bundle/': 'BUNDLE_USER_HOME',
  '.claude/': 'CLAUDE_CONFIG_DIR',
  '.cache/huggingface/': 'HF_HOME',
};

/** Environment variables that can contain the path of a secret file or folder in an unusual place. */
const NAMED = [
  'GNUPGHOME',
  'PASSWORD_STORE_DIR',
  'SOPS_AGE_KEY_FILE',
  'DOCKER_CONFIG',
  'REGISTRY_AUTH_FILE',
  'AWS_SHARED_CREDENTIALS_FILE',
  'AWS_CONFIG_FILE',
  'AZURE_CONFIG_DIR',
  'CLOUDSDK_CONFIG',
  'GH_CONFIG_DIR',
  'RCLONE_CONFIG',
  'NETRC',
  'PGPASSFILE',
  'NPM_CONFIG_USERCONFIG',
  'PIP_CONFIG_FILE',
  'GOOGLE_APPLICATION_CREDENTIALS',
  'CODEX_HOME',
  'KAGGLE_CONFIG_DIR',
  'XAUTHORITY',
  'JUPYTER_RUNTIME_DIR',
  'HISTFILE',
];

/** Returns the real paths of those secrets of the user that exist. HOME is the user's home folder. Throws an
 * UnresponsiveFolderError when a file system does not answer. */
export async function secretPaths(home: string): Promise<string[]> {
  const usual = Object.values(SECRETS).flat();
  const moved = Object.entries(MOVED).flatMap(([folder, variable]) =>
    usual
      .filter((path) => path.startsWith(folder))
      .map((path) => join(process.env[variable] ?? '', path.slice(folder.length))),
  );
  const named = NAMED.map((name) => process.env[name] ?? '');
  // KUBECONFIG can list several files.
  const listed = (process.env['KUBECONFIG'] ?? '').split(delimiter);
  // The paths that come from unset variables are relative, so they are left out here.
  const elsewhere = [...moved, ...named, ...listed].filter(isAbsolute);
  const found = await existingPaths([...(await pathsBelow(home, usual)), ...elsewhere]);
  // Devices are left out, because the value /dev/null of a variable means that there is no file. The home and the
  // folders that contain it are left out too, because nothing would work without them.
  return found.filter((path) => !isInside('/dev', path) && !isInside(path, realPath(home)));
}

/** PATTERNS are paths relative to FOLDER. Returns those that may exist, joined to FOLDER. Lists the folders on these
 * paths, and leaves out each path with a name that its folder does not contain. If a folder cannot be listed, the names
 * in it may exist. To list these few folders is faster than to check each path. */
async function pathsBelow(folder: string, patterns: readonly string[]): Promise<string[]> {
  const names = await namesIn(folder);
  // Maps the first name of each pattern to a list of what follows this name in the patterns. '' stands for a pattern
  // that ends after its first name.
  const rests = new Map<string, string[]>();
  for (const pattern of patterns) {
    const [name = '', ...rest] = pattern.split('/');
    if (names?.has(name) ?? true) rests.set(name, [...(rests.get(name) ?? []), rest.join('/')]);
  }
  const found: string[] = [];
  for (const [name, more] of rests) {
    const path = join(folder, name);
    if (more.includes('')) found.push(path);
    else found.push(...(await pathsBelow(path, more)));
  }
  return found;
}

/** Returns the names in FOLDER; undefined when it exists but cannot be listed. The files in it may still be
 * accessible. */
async function namesIn(folder: string): Promise<Set<string> | undefined> {
  try {
    return new Set(await withFileTimeout(folder, () => readdir(folder)));
  } catch (error) {
    if (error instanceof UnresponsiveFolderError) throw error;
    const { code = '' } = error as NodeJS.ErrnoException;
    return ['ENOENT', 'ENOTDIR'].includes(code) ? new Set() : undefined;
  }
}
