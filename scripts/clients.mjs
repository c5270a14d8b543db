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
  ['calls itself', ({ headless }) => headless.calledItself],
  ['tools its model sees at first', ({ headless }) => toolsText(headless)],
  ['instructions its model sees at first', ({ headless }) => headless.instructions],
  ['first answer of ours', ({ headless }) => `turn ${headless.firstAnswer} of the model`],
  ['number and string answers arrive', ({ headless }) => YES(headless.number && headless.string)],
  ['notices arrive with them', ({ headless }) => YES(headless.notice)],
  ['progress', ({ headless }) => headless.progress],
  [
    'what its human sees of that',
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
  return `Claude Code has a dialog of its own that shows the whole arguments of a call, and more rows of them. A rule opens it:
\`"permissions": { "ask": ["mcp__live-lisp__edit_definitions", "mcp__live-lisp__write_file"] }\` in \`settings.json\`. It was
tried whether that could stand for our question, with a server that is allowed the tool:

- The dialog came in these modes: ${modes(asks)}. The file was written without it in: ${modes(writes)}. By hand
  it was tried in 2.1.331 that the dialog comes also after "don't ask again", after \`--allowedTools\`, and where a hook of
  \`PreToolUse\` allows the call. A hook of \`PermissionRequest\` answers it for the human.
- The server must be started with \`--allow\` for that. Then code in the image writes without anybody being asked, and in this
  trial it ${code ? 'did' : 'did not'}: \`eval_form\` with \`(live-lisp:call-tool :write-file ...)\`. Whatever other client starts that server is not asked either.
- It shows what comes and not what goes: of \`rename_symbol\` two names, and no file. What it approved is not bound to what the
  file has, and the audit log cannot tell it from a call that nobody saw.

So it cannot, and install does not write it. Beside our question it is of use to whoever wants to see the whole new text: they
are asked twice then.`;
}

function page({ rows, rule, quirks }) {
  const quirkRows = quirks.map(({ client, observedIn, reason }) => [
    wholeCell(client),
    observedIn,
    wholeCell(reason),
  ]);
  return `<!-- Generated by ${COMMAND}; do not edit. -->

# Clients

Real clients, from npm, against the built server. A model on loopback makes the same calls in each. What stands between client
and server is recorded, and nothing leaves the machine. \`tests/clients/\` does that, and \`${COMMAND}\` runs it.

Codex is there twice, since its models decide how it shows tools: the first runs JavaScript that calls them. It is set to ask
its human nothing itself (\`default_tools_approval_mode = "approve"\`). Claude Code may call our tools
(\`--allowedTools mcp__live-lisp\`), opencode and Gemini CLI all. "Turn" counts how often the model was asked.

${clientTable(rows)}

A change of 10 lines takes five lines of a function and puts five in their place, one of 60 thirty. The terminal has 100 columns
and 40 rows. "Chosen" is what a key confirms without another.

## Its own dialog in Claude Code

${ruleText(rule)}

## What is done for single clients

${table(['whose name begins with', 'seen in', 'why'], quirkRows)}

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
