// Which clients are measured, in which versions, and how each is set up so that it leaves neither its folder nor loopback.

import type { Naming } from './script.ts';

/** Where a client is run, and against what. */
export interface Setup {
  /** The model. */
  url: string;
  home: string;
  workspace: string;
  /** The command of our server. */
  server: readonly [program: string, ...args: string[]];
  serverEnvironment: { [name: string]: string };
}

/** A client. */
export interface Host {
  name: string;
  package: string;
  version: string;
  /** The program, below node_modules/.bin. */
  program: string;
  naming: Naming;
  /** Returns the contents of its configuration by path. */
  files: (setup: Setup) => { [path: string]: string };
  environment: (setup: Setup) => { [name: string]: string };
  /** What makes it answer PROMPT and end. */
  headless: (prompt: string) => string[];
  /** What begins a conversation in a terminal with PROMPT. */
  interactive: (prompt: string) => string[];
  /** What its human presses to cancel a call. */
  cancel: readonly string[];
  /** What they press to answer a question, where it asks any: with the choice that is preset, and to choose the second. */
  answer?: { preset: readonly string[]; second: readonly string[] };
  /** What is in all that it asks a model beside the conversation, where it has tools there too. */
  aside?: RegExp;
  /** What its human has to be rid of before the conversation begins: a pattern on the screen, and the keys. */
  gates: readonly (readonly [pattern: RegExp, ...keys: string[]])[];
}

const json = (value: unknown) => JSON.stringify(value, null, 1);

/** Nothing listens there, so a client that asks for anything but loopback gets nothing. */
const NOWHERE = 'http://127.0.0.1:9';

/** What each client's environment has: PATH and what keeps it on this machine. */
export function commonEnvironment({ home }: Setup): { [name: string]: string } {
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    TERM: 'xterm-256color',
    LANG: 'C.UTF-8',
    HTTP_PROXY: NOWHERE,
    HTTPS_PROXY: NOWHERE,
    ALL_PROXY: NOWHERE,
    NO_PROXY: '127.0.0.1,localhost',
    DO_NOT_TRACK: '1',
  };
}

export const CLAUDE_CODE: Host = {
  name: 'Claude Code',
  package: '@anthropic-ai/claude-code',
  version: '2.1.331',
  program: 'claude',
  naming: {
    name: (tool) => `mcp__live-lisp__${tool}`,
    search: (tool) => `select:mcp__live-lisp__${tool}`,
  },
  files: ({ home, workspace, server: [command, ...args], serverEnvironment }) => ({
    [`${home}/.claude.json`]: json({
      hasCompletedOnboarding: true,
      theme: 'dark',
      customApiKeyResponses: { approved: ['mock-key'], rejected: [] },
      projects: { [workspace]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
      mcpServers: { 'live-lisp': { type: 'stdio', command, args, env: serverEnvironment } },
    }),
  }),
  environment: ({ url }) => ({
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: 'mock-key',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_TELEMETRY: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  }),
  headless: (prompt) => ['-p', prompt, '--allowedTools', 'mcp__live-lisp'],
  interactive: (prompt) => ['--allowedTools', 'mcp__live-lisp', '--', prompt],
  cancel: ['Escape'],
  answer: { preset: ['Down', 'Enter'], second: ['Right', 'Down', 'Enter', 'Enter'] },
  gates: [
    [/trust this folder|Do you trust/i, 'Enter'],
    [/Detected a custom API key/i, 'Up', 'Enter'],
  ],
};

/** Returns Codex with MODEL, which decides how it shows tools, and their NAMING. */
function codex(name: string, model: string, naming: Naming): Host {
  return {
    name,
    package: '@openai/codex',
    version: '0.169.0',
    program: 'codex',
    naming,
    files: (setup) => ({ [`${setup.home}/.codex/config.toml`]: codexConfiguration(setup, model) }),
    environment: () => ({ MOCK_KEY: 'mock-key' }),
    headless: (prompt) => ['exec', '--skip-git-repo-check', prompt],
    interactive: (prompt) => [prompt],
    cancel: ['Escape'],
    answer: { preset: ['Enter'], second: ['Down', 'Enter'] },
    aside: /"thread_source":"thread_title"/,
    gates: [
      [/Do you trust/i, 'Enter'],
      [/Try new model/, 'Down', 'Enter'],
    ],
  };
}

/** In that mode of approval it does not ask itself before each call of a tool that is not read-only. */
function codexConfiguration(setup: Setup, model: string): string {
  const { url, workspace, serverEnvironment } = setup;
  const [command, ...args] = setup.server;
  const variables = Object.entries(serverEnvironment).map(([name, value]) => `${name} = ${json(value)}`);
  return `model = "${model}"
model_provider = "mock"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.mock]
name = "mock"
base_url = "${url}/v1"
wire_api = "responses"
env_key = "MOCK_KEY"
[projects.${json(workspace)}]
trust_level = "trusted"
[mcp_servers.live-lisp]
command = ${json(command)}
args = ${json(args)}
default_tools_approval_mode = "approve"
[mcp_servers.live-lisp.env]
${variables.join('\n')}
`;
}

/** With its own choice of a model, which calls tools only by running JavaScript. */
const CODEX = codex('Codex (gpt-6.1-sol)', 'gpt-6.1-sol', {
  name: (tool) => `mcp__live_lisp__${tool}`,
  code: (tool, args) => `text(await tools.mcp__live_lisp__${tool}(${JSON.stringify(args)}))`,
});

const CODEX_CALLING = codex('Codex (gpt-5.5)', 'gpt-5.5', {
  name: (tool) => tool,
  namespace: 'mcp__live_lisp',
  search: (tool) => tool.replaceAll('_', ' '),
});

const OPENCODE: Host = {
  name: 'opencode',
  package: 'opencode-ai',
  version: '1.18.33',
  program: 'opencode',
  naming: { name: (tool) => `live-lisp_${tool}` },
  files: ({ workspace, url, server, serverEnvironment }) => ({
    [`${workspace}/opencode.json`]: json({
      model: 'mock/mock',
      small_model: 'mock/mock',
      autoupdate: false,
      share: 'disabled',
      enabled_providers: ['mock'],
      permission: 'allow',
      provider: {
        mock: {
          npm: '@ai-sdk/openai-compatible',
          options: { baseURL: `${url}/v1`, apiKey: 'mock-key' },
          models: { mock: { name: 'mock', tool_call: true, limit: { context: 200_000, output: 8000 } } },
        },
      },
      mcp: { 'live-lisp': { type: 'local', command: server, environment: serverEnvironment, enabled: true } },
    }),
  }),
  environment: () => ({
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
  }),
  headless: (prompt) => ['run', prompt],
  interactive: (prompt) => ['--prompt', prompt],
  cancel: ['Escape', 'Escape'],
  gates: [],
};

const GEMINI_CLI: Host = {
  name: 'Gemini CLI',
  package: '@google/gemini-cli',
  version: '0.61.0',
  program: 'gemini',
  naming: { name: (tool) => `mcp_live-lisp_${tool}` },
  files: ({ home, server: [command, ...args], serverEnvironment }) => ({
    [`${home}/.gemini/settings.json`]: json({
      mcpServers: { 'live-lisp': { command, args, env: serverEnvironment, trust: true } },
      security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
      general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
      telemetry: { enabled: false },
      privacy: { usageStatisticsEnabled: false },
    }),
  }),
  environment: ({ url }) => ({
    GEMINI_API_KEY: 'mock-key',
    GOOGLE_GEMINI_BASE_URL: url,
    GEMINI_CLI_NO_RELAUNCH: 'true',
  }),
  headless: (prompt) => ['--yolo', '-p', prompt],
  interactive: (prompt) => ['--yolo', '-i', prompt],
  cancel: ['Escape'],
  gates: [],
};

/** All of them; Codex twice, as its models differ in how they see tools. */
export const HOSTS: readonly Host[] = [CLAUDE_CODE, CODEX, CODEX_CALLING, OPENCODE, GEMINI_CLI];
