// Decides how docs/tools.md reads: every tool as the running server lists it, with real calls.

import { callText } from './transcript.mjs';

const INTRODUCTION = `# The tools

The tools in the order of \`tools/list\`. The level says what a call may do: safe tools only look, cautious tools
run code, dangerous tools ask the user first. Behind it stand the category and the complexity that \`search_tools\` can filter
by. Then come the tokens of the tool's definition with its smallest and with its largest typical answer. The examples are real
answers over \`fixtures/demo\`.

\`npm run docs\` writes this page from the running server; do not edit it.`;

/** What would differ between two machines or two runs: an object's address, a temporary folder, a duration. */
const VARIABLE = /\{[0-9A-F]{6,}\}|\/(?:tmp|var)\/|\b\d+\.\d+ s\b/;

const CONFINED =
  'Code in the image is in a sandbox: it may write only in ~/demo, ~/tmp, and can use the network.';
const MEMORY =
  'Memory: heap 31 MB of 4096 MB; 3 garbage collections took 0.1 s; image 62 MB resident; server 68 MB resident';

const REBUILT = 'Rebuilt in 0.1 s';
const RAN = '(0.1 s).';

/** Returns TEXT with the time, duration, process, memory and home folder of an ordinary user in place of those of this
 *  run. */
function stable(text) {
  return text
    .replace(/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, '2026-11-21T12:00:00.000Z')
    .replace(/\b\d+(\.\d+)? (ns|µs|ms)\b/g, '12 ms')
    .replace(/, \d+ s ago,/g, ', 2 s ago,')
    .replace(/^SBCL .*, pid \d+, up .*;/gm, 'SBCL 2.2.9, pid 4242, up 12 min;')
    .replace(/^Memory: heap.*/gm, MEMORY)
    .replace(/^Threads: \d+,/gm, 'Threads: 2,')
    .replace(/^Code in the image is in .*/gm, CONFINED)
    .replace(/Rebuilt in \d+\.\d s/g, REBUILT)
    .replace(/\(\d+\.\d s\)\.$/gm, RAN)
    .replace(/\/\S*\/\.state\//g, '~/.local/state/')
    .replace(/\/\S*\/demo\//g, '~/demo/');
}

/** Returns the page where demoAnswers gives ANSWERED; LEVELS is what \`live-lisp tools\` prints. */
export function toolsPage(levels, answered) {
  const sections = answered.map(({ tool, found, examples }) => {
    const { category, complexity, tokenCost } = found;
    const cost = `${tokenCost.min} to ${tokenCost.max} tokens`;
    const facts = [levelOf(tool.name, levels), category, complexity, cost].join(' · ');
    const calls = examples.map(({ args, text }) => callText({ tool: tool.name, args }, stable(text)));
    return toolSection(tool, facts, calls);
  });
  const page = `${[INTRODUCTION, ...sections].join('\n\n')}\n`;
  const [variable] =
    VARIABLE.exec(page.replaceAll(MEMORY, '').replaceAll(REBUILT, '').replaceAll(RAN, '')) ?? [];
  if (variable !== undefined) throw new Error(`an example has ${variable}, which differs from run to run`);
  return page;
}

function levelOf(name, levels) {
  const [, level] = new RegExp(`^${name} +(\\w+)`, 'm').exec(levels) ?? [];
  if (level === undefined) throw new Error(`live-lisp tools does not list ${name}`);
  return level;
}

function toolSection({ name, description, inputSchema }, facts, calls) {
  return `## ${name}

${facts}

${escaped(description)}

${parameterTable(inputSchema)}

\`\`\`text
${calls.join('\n\n')}
\`\`\``;
}

function parameterTable(schema) {
  const rows = parameterRows(schema, '');
  if (rows.length === 0) return 'It takes no parameters.';
  return ['| Parameter | Type | Required | Description |', '|---|---|---|---|', ...rows].join('\n');
}

/** Returns the rows of the members of a schema, which stand behind PREFIX, and of those within them. */
function parameterRows({ properties = {}, required = [] }, prefix) {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const need = required.includes(name) ? 'yes' : 'no';
    const path = `${prefix}${name}`;
    const row = `| \`${path}\` | ${typeText(schema)} | ${need} | ${escaped(schema.description ?? '')} |`;
    return [row, ...parameterRows(schema.items ?? {}, `${path}[].`)];
  });
}

/** Returns TEXT so that Markdown shows it as it is. */
function escaped(text) {
  return text.replace(/[\\*~<|`]/g, '\\$&');
}

function typeText({ type, items, enum: values, default: initial }) {
  const parts = [
    items ? `${type} of ${items.type}` : type,
    values && `one of ${values.join(', ')}`,
    initial !== undefined && `default ${initial}`,
  ];
  return parts.filter(Boolean).join(', ');
}
