// Decides which files and folders of a home have keys, tokens and passwords, which code in the sandbox does not see.

import { join } from 'node:path';

/** Paths from the home, by what has them there. */
const SECRETS: { readonly [owner: string]: readonly string[] } = {
  keys: ['.ssh', '.gnupg', '.age', '.config/age', '.config/sops', '.password-store'],
  keyrings: [
    '.local/share/keyrings',
    '.local/share/kwalletd',
    '.config/1Password',
    '.config/op',
    '.config/Bitwarden',
    '.vault-token',
  ],
  clouds: [
    '.aws',
    '.azure',
    '.config/gcloud',
    '.oci',
    '.bluemix',
    '.config/doctl',
    '.config/hcloud',
    '.config/rclone',
    '.fly',
    '.config/heroku',
    '.s3cfg',
    '.boto',
    '.terraform.d/credentials.tfrc.json',
    '.terraformrc',
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
  ],
  registries: [
    '.npmrc',
    '.yarnrc.yml',
    '.pypirc',
    '.config/pip',
    '.gem/credentials',
    '.cargo/credentials',
    '.cargo/credentials.toml',
    '.m2/settings.xml',
    '.m2/settings-security.xml',
    '.gradle/gradle.properties',
    '.composer/auth.json',
    '.config/composer/auth.json',
    '.nuget/NuGet/NuGet.Config',
  ],
  databases: ['.pgpass', '.my.cnf', '.mylogin.cnf'],
  agents: [
    '.claude.json',
    '.claude/.credentials.json',
    '.codex/auth.json',
    '.gemini/oauth_creds.json',
    '.gemini/.env',
    '.local/share/opencode/auth.json',
    '.config/github-copilot',
  ],
  browsers: [
    '.mozilla',
    '.thunderbird',
    '.config/google-chrome',
    '.config/chromium',
    '.config/BraveSoftware',
    '.config/microsoft-edge',
    '.config/vivaldi',
    '.config/opera',
    '.var/app',
    'snap/firefox',
    'snap/chromium',
    'snap/thunderbird',
  ],
};

/** Folders that programs are told of by a variable, when they are not where they usually are. */
const NAMED = [
  'GNUPGHOME',
  'PASSWORD_STORE_DIR',
  'KUBECONFIG',
  'DOCKER_CONFIG',
  'AWS_SHARED_CREDENTIALS_FILE',
  'AWS_CONFIG_FILE',
  'CLOUDSDK_CONFIG',
  'NETRC',
  'PGPASSFILE',
  'NPM_CONFIG_USERCONFIG',
  'GOOGLE_APPLICATION_CREDENTIALS',
];

/** Returns the paths of all that can be there, for the user whose home is HOME, with ENVIRONMENT. */
export function secretPaths(home: string, environment: NodeJS.ProcessEnv = process.env): string[] {
  const named = NAMED.map((name) => environment[name] ?? '').filter((path) => path.startsWith('/'));
  const usual = Object.values(SECRETS)
    .flat()
    .map((path) => join(home, path));
  return [...usual, ...named];
}
