// Writes docs/develop/clients.md from what was measured of the clients. With --check it fails instead when that is stale, or when
// a client of the suite is not in it.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cell, measuredPage, table } from './measured-page.mjs';
import { PROJECT } from './session.mjs';

const FOLDER = join(PROJECT, 'tests', 'clients');
const COMMAND = 'make check-long';

/** Returns TEXT as a cell, however long it is. */
const wholeCell = (text) => cell(String(text), Number.POSITIVE_INFINITY);

const YES = (value) => (value ? 'yes' : '**no**');

function toolsText({ toolsInFull, toolsByName, namesInFull }) {
  const which = toolsInFull > 0 && toolsInFull < 6 ? ` (${namesInFull})` : '';
  return `${toolsInFull} in full${which}, ${toolsByName} by name`;
}

/** Returns what a human sees of a change. */
function shownText({ shown, changed, turned, shownLater, preset }) {
  const first = `${shown} of ${changed}, with ${preset === 'nothing' ? 'nothing chosen' : `“${preset}” chosen`}`;
  return turned > 0 ? `${first}; ${shownLater} after ${turned} ${turned === 1 ? 'page' : 'pages'}` : first;
}

/** Returns what SAY says of how a client asks, if it does. */
function ofAsking(say) {
  return ({ asked }) => (asked ? say(asked) : asked === null ? 'asks nobody' : 'not measured');
}

/** What the table says of each client: a head, and what its cell is made of. */
const LINES = [
  ['protocol', ({ headless }) => headless.protocol],
  ['client name', ({ headless }) => headless.calledItself],
  ['tools its model sees at first', ({ headless }) => toolsText(headless)],
  ['instructions its model sees at first', ({ headless }) => headless.instructions],
  ['first answer of live-lisp', ({ headless }) => `turn ${headless.firstAnswer} of the model`],
  ['number and string answers arrive', ({ headless }) => YES(headless.number && headless.string)],
  ['notices arrive with answers', ({ headless }) => YES(headless.notice)],
  ['progress', ({ headless }) => headless.progress],
  [
    'what its human sees of the progress',
    ({ watched }) => (watched ? watched.progress || 'nothing' : 'not measured'),
  ],
  ['cancel', ({ watched }) => watched?.cancel ?? 'not measured'],
  ['tool defined at run time can be called', ({ headless }) => YES(headless.lateTool)],
  ['lines of a change of 10 that its human sees', ofAsking(({ small }) => shownText(small))],
  ['lines of a change of 60 that its human sees', ofAsking(({ large }) => shownText(large))],
  ['its human can approve', ofAsking(({ small, large }) => YES(small.written && large.written))],
  ['refused without a human', ({ headless }) => headless.refused],
  ['refused with Escape', ofAsking(({ small }) => small.refused)],
];

function clientTable(rows) {
  return table(
    ['', ...rows.map(({ name, version }) => wholeCell(`${name} ${version}`))],
    LINES.map(([head, say]) => [head, ...rows.map((row) => wholeCell(say(row)).replaceAll('\\*\\*', '**'))]),
  );
}

/** Returns SCREEN without the empty lines that are nothing but room. */
function screenText(screen) {
  return screen.replace(/\n(?:[ \t]*\n){2,}/g, '\n\n').trim();
}

function screens(rows) {
  return rows
    .filter(({ asked }) => asked)
    .map(({ name, asked }) =>
      [
        `### ${name}`,
        ...[asked.small, asked.large].map(({ screen }) => `\`\`\`text\n${screenText(screen)}\n\`\`\``),
      ].join('\n\n'),
    )
    .join('\n\n');
}

/** Returns what is to be said of the permission dialog of Claude Code, which RULE was measured of. */
function ruleText({ asks, writes, code }) {
  const modes = (names) => (names.length === 0 ? 'none' : names.map((name) => `\`${name}\``).join(', '));
  return `Claude Code has a permission dialog of its own. It shows all arguments of a call, in more rows than our question gets. A rule
opens it:
\`"permissions": { "ask": ["mcp__live-lisp__edit_definitions", "mcp__live-lisp__write_file"] }\` in \`settings.json\`. A
trial, with a server that may use the tool without a question, showed whether this dialog could replace our question:

- The dialog came in these modes: ${modes(asks)}. The file was written without the dialog in:
  ${modes(writes)}. In a trial by hand with 2.1.331, the dialog also came after "don't ask again", with \`--allowedTools\`, and when a
  \`PreToolUse\` hook allowed the call. A \`PermissionRequest\` hook answers the dialog in place of the human.
- The server must be started with \`--allow\`. Then code in the image can write files, and nobody is asked. In this trial such
  code ${code ? 'wrote' : 'did not write'} a file: \`eval_form\` with \`(live-lisp:call-tool :write-file ...)\`. Nor does the server ask in any
  other client that starts it.
- The dialog shows the new text but not the old one. For \`rename_symbol\` it shows two names and no file. The approval is
  not bound to the content of the file, and in the audit log the call looks like one that nobody approved.

So the dialog cannot replace our question, and \`live-lisp install\` does not write the rule. With both, the human sees the
whole new text, but is asked twice.`;
}

function page({ rows, rule, quirks }) {
  const quirkRows = quirks.map(({ client, observedIn, reason }) => [
    wholeCell(client),
    observedIn,
    wholeCell(reason),
  ]);
  return `<!-- Generated by ${COMMAND}; do not edit. -->

# Clients

This page shows how real clients from npm behave with the built server. A scripted model on loopback makes the same calls in
each client, and the messages between client and server are recorded. Nothing leaves the machine. \`tests/clients/\` has the tests, and
\`${COMMAND}\` runs them.

Codex has two columns, since it shows tools differently to different models: the first model runs JavaScript that calls them. The
clients' own questions to their human are switched off:

- Codex: \`default_tools_approval_mode = "approve"\`.
- Claude Code: \`--allowedTools mcp__live-lisp\`, which allows our tools.
- opencode and Gemini CLI: all tools are allowed.

A "turn" is one request to the model.

${clientTable(rows)}

A change of 10 lines replaces five lines of a function by five others; a change of 60 lines replaces thirty. The terminal has 100
columns and 40 rows. "Chosen" means preselected: a single key confirms this choice.

## Its own dialog in Claude Code

${ruleText(rule)}

## What is done for single clients

${table(['client whose name begins with', 'seen in', 'why'], quirkRows)}

## The question on the screen

${screens(rows)}
`;
}

const result = JSON.parse(readFileSync(join(FOLDER, 'result.json'), 'utf8'));

function checkAll() {
  const hosts = readFileSync(join(FOLDER, 'hosts.ts'), 'utf8');
  const wanted = [...hosts.matchAll(/version: '([\d.]+)'/g)].map(([, version]) => version);
  const missing = wanted.filter((version) => !result.rows.some((row) => row.version === version));
  if (missing.length > 0)
    throw new Error(`not measured: version ${missing.join(', ')}. ${COMMAND} measures all.`);
}

await measuredPage('docs/develop/clients.md', () => page(result), checkAll);
