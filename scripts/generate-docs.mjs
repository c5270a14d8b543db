// Writes what the docs show of the running server: docs/tools.md, docs/session.svg, and the marked parts of other pages. It
// writes the manifests and what lisp/ declares too. With --check it writes nothing, and fails when one of
// them is stale, or what the tools cost.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { demoAnswers } from './demo-answers.mjs';
import { jobParts, jobs } from './jobs.mjs';
import { manifests } from './manifests.mjs';
import { wirePages } from './operations.mjs';
import { picture } from './picture.mjs';
import { PROJECT, SERVER, withDemo } from './session.mjs';
import { costsText, sameCosts } from './token-costs.mjs';
import { toolsPage } from './tools-page.mjs';
import { shortTranscript } from './transcript.mjs';
import { tutorial, tutorialParts } from './tutorial.mjs';

/** The pages that have marked parts. */
const MARKED = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'docs/debugging.md',
  'docs/install.md',
  'docs/jobs.md',
  'docs/options.md',
  'docs/tutorial.md',
];

/** A session over a web application, which a test keeps. */
const WEB = join(PROJECT, 'tests', 'transcripts', 'web-application.txt');

/** Returns what `live-lisp` with WORD prints. */
function output(word) {
  return execFileSync(process.execPath, [SERVER, word], { encoding: 'utf8' }).trimEnd();
}

/** Returns PAGE with TEXT between its markers NAME, if it has them. */
function withMarked(page, name, text) {
  const marked = new RegExp(`(<!-- ${name}:start -->\n)[\\s\\S]*?(<!-- ${name}:end -->)`, 'g');
  return page.replace(marked, (_, start, end) => `${start}${text}\n${end}`);
}

function fenced(text) {
  return `\`\`\`text\n${text}\n\`\`\``;
}

/** What the human has to do with a call of each level. */
const LEVELS = {
  safe: 'runs: it only looks',
  cautious: 'runs code, in a sandbox where bubblewrap works, and is recorded; `--ask cautious` asks before',
  dangerous: 'asks you, in your client, and is recorded',
};

/** Returns the table of levels for TOOLS, lines of a name and a level. */
function levelTable(tools) {
  const named = (level) =>
    tools
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter((words) => words[1] === level)
      .map(([name]) => `\`${name}\``)
      .join(', ');
  const rows = Object.entries(LEVELS).map(([level, what]) => `| ${level} | ${named(level)} | ${what} |`);
  return ['| level | tools | a call |', '|---|---|---|', ...rows].join('\n');
}

/** Returns the sentences that say which SBCLs live-lisp runs on. */
function supportedSbcls() {
  const versions = readFileSync(join(PROJECT, 'src', 'image', 'process', 'sbcl-versions.json'), 'utf8');
  const { oldest, tested } = JSON.parse(versions);
  const listed = `${tested.slice(0, -1).join(', ')} and ${tested.at(-1)}`;
  return [
    `live-lisp is tested with SBCL ${listed}, all 64-bit and with threads. Other versions from ${oldest} on run`,
    'the main tools, and `live-lisp doctor` lists what yours lacks. Older ones are refused.',
  ].join('\n');
}

function readPage(file) {
  const path = join(PROJECT, file);
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

/** Returns the text that each generated file should have. demoAnswers gives ANSWERED, the tutorial REPORTED, the
 * jobs DONE, and the short session the TRANSCRIPT. */
function freshPages(answered, reported, done, transcript) {
  const tools = output('tools');
  const pages = new Map([
    ...manifests(),
    ...wirePages(),
    ['docs/tools.md', toolsPage(tools, answered)],
    ['docs/session.svg', picture(reported)],
  ]);
  const parts = {
    transcript: fenced(transcript),
    web: fenced(readFileSync(WEB, 'utf8').trimEnd()),
    help: fenced(output('--help')),
    levels: levelTable(tools),
    sbcl: supportedSbcls(),
  };
  const sessions = { ...tutorialParts(reported), ...jobParts(done) };
  for (const [name, text] of Object.entries(sessions)) parts[name] = fenced(text);
  for (const file of MARKED) {
    const page = readPage(file);
    if (page === undefined) continue;
    pages.set(
      file,
      Object.entries(parts).reduce((text, [name, part]) => withMarked(text, name, part), page),
    );
  }
  return pages;
}

async function main() {
  const check = process.argv.includes('--check');
  const [reported, done, answered, transcript] = await Promise.all([
    tutorial(),
    jobs(),
    demoAnswers(),
    withDemo(shortTranscript),
  ]);
  const stale = [...freshPages(answered, reported, done, transcript)].filter(
    ([file, text]) => readPage(file) !== text,
  );
  for (const [file, text] of stale) {
    console.log(check ? `${file} is stale; npm run build && npm run docs writes it.` : `Wrote ${file}`);
    if (check) continue;
    mkdirSync(dirname(join(PROJECT, file)), { recursive: true });
    writeFileSync(join(PROJECT, file), text);
  }
  const costs = !check || sameCosts(costsText(answered));
  if (!costs) console.log('src/catalog/token-costs.ts is stale; npm run build && npm run costs writes it.');
  if (check && (stale.length > 0 || !costs)) process.exitCode = 1;
}

try {
  await main();
} catch (error) {
  console.error(`generate-docs: ${error.message}`);
  process.exitCode = 1;
}
