// Writes what the declarations in lisp/ say of the operations: the types of the server, and a part of the page about the
// wire. npm run docs writes both too, and its check says when they are stale.

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT } from './session.mjs';

const TYPES_FILE = 'src/image/wire/operations.ts';
const PAGE = 'docs/develop/wire-protocol.md';

/**
 * A type is a name, or an array that begins with a word: see lisp/base/shapes.lisp.
 * @typedef {string | [string, ...any[]]} Type
 * @typedef {{ name: string, type: Type, optional?: true, words?: string }} Member
 * @typedef {{ name: string, type: Type, words: string, parents?: string[] }} Declaration
 * @typedef {{ name: string, words: string, takes?: Member[], holds?: true, inline?: true, serverOnly?: true,
 *   members?: true, resumes?: true, gives: Type }} Operation
 */

/**
 * Returns what the sources in lisp/ declare.
 * @returns {{ types: Declaration[], operations: Operation[] }}
 */
export function declarations() {
  const options = ['--noinform', '--no-sysinit', '--no-userinit', '--disable-debugger'];
  const script = join(PROJECT, 'scripts', 'operations.lisp');
  const sbcl = process.env['LIVE_LISP_SBCL'] || 'sbcl';
  const output = execFileSync(sbcl, [...options, '--load', script, '--quit'], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  return JSON.parse(output);
}

const WORDS = /** @type {Record<string, string>} */ ({
  integer: 'number',
  real: 'number',
  anything: 'unknown',
});

/** Returns TYPE in TypeScript. IN_REQUEST says that it is of an argument, which nobody changes. */
function typeScript(type, inRequest = false) {
  if (typeof type === 'string') return WORDS[type] ?? type;
  const [word, ...parts] = type;
  const inner = (part) => typeScript(part, inRequest);
  const readonly = inRequest ? 'readonly ' : '';
  switch (word) {
    case 'list': {
      const element = inner(parts[0]);
      return `${readonly}${/^[\w.]+$/.test(element) ? element : `(${element})`}[]`;
    }
    case 'tuple': {
      const optional = parts.indexOf('&optional');
      const elements = parts.filter((part) => part !== '&optional');
      return `${readonly}[${elements.map((part, index) => `${inner(part)}${optional !== -1 && index >= optional ? '?' : ''}`).join(', ')}]`;
    }
    case 'map':
      return parts[0] === 'anything' ? 'object' : `Record<string, ${inner(parts[0])}>`;
    case 'nullable':
      return `${inner(parts[0])} | null`;
    case 'or':
      return parts.map(inner).join(' | ');
    case 'member':
      return parts.map((text) => `'${text}'`).join(' | ');
    default:
      return `{ ${parts[0].map((member) => property(member, inRequest)).join('\n')} }`;
  }
}

/** Returns WORDS, if any, as a comment in lines of at most 110 columns after INDENT. */
function comment(words, indent = '') {
  if (words === undefined) return '';
  const lines = [''];
  for (const word of words.split(/\s+/)) {
    const line = lines.at(-1);
    if (indent.length + 4 + line.length + word.length + 4 > 110) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return `${indent}/** ${lines.join(`\n${indent} *  `)} */\n`;
}

/** Returns MEMBER as a property of an object type. */
function property({ name, type, optional, words }, inRequest = false) {
  return `${comment(words, '  ')}${name}${optional ? '?' : ''}: ${typeScript(type, inRequest)};`;
}

/** Returns DECLARATION as a type. IN_REQUEST says that only requests have it. */
function typeText({ name, type, words, parents = [] }, inRequest) {
  if (type[0] !== 'object') return `${comment(words)}export type ${name} = ${typeScript(type, inRequest)};\n`;
  const above = parents.length > 0 ? ` extends ${parents.join(', ')}` : '';
  const members = type[1].map((member) => property(member, inRequest)).join('\n');
  return `${comment(words)}export interface ${name}${above} {\n${members}\n}\n`;
}

function operationText({ name, words, takes = [], holds, members, gives }) {
  const own = takes.length > 0 ? `{ ${takes.map((member) => property(member, true)).join('\n')} }` : 'object';
  const args = holds ? `${own} & Hold` : own;
  const data = members ? typeScript(gives) : `{ value?: ${typeScript(gives)} }`;
  return `${comment(words, '  ')}'${name}': { args: ${args}; data: ${data} };`;
}

/** Returns the names of the TYPES that TYPE is made of, in any depth. */
function namesIn(type, types, found = new Set()) {
  if (Array.isArray(type)) for (const part of type) namesIn(part.type ?? part, types, found);
  const named = found.has(type) ? undefined : types.find(({ name }) => name === type);
  if (named === undefined) return found;
  found.add(type);
  return namesIn([named.type, ...(named.parents ?? [])], types, found);
}

/** Returns the text of the file with the types, which the declarations say. */
function typesFile({ types, operations }) {
  const texts = (own) => operations.filter(({ serverOnly = false }) => serverOnly === own).map(operationText);
  const given = namesIn(
    operations.map(({ gives }) => gives),
    types,
  );
  const asked = namesIn(['Hold', ...operations.flatMap(({ takes = [] }) => takes)], types);
  const inRequest = ({ name }) => asked.has(name) && !given.has(name);
  const text = `// Generated from the declarations in lisp/ by scripts/operations.mjs. npm run operations writes it anew.

${types.map((each) => typeText(each, inRequest(each))).join('\n')}
/** The operations that tools request, each with its arguments and the data of its answer. */
export interface Operations {
${texts(false).join('\n')}
}

/** All operations: also those that only the server itself requests, to observe and control the image and its jobs. */
export interface BackendOperations extends Operations {
${texts(true).join('\n')}
}
`;
  const biome = join(PROJECT, 'node_modules', '.bin', 'biome');
  return execFileSync(biome, ['format', `--stdin-file-path=${TYPES_FILE}`], {
    cwd: PROJECT,
    encoding: 'utf8',
    input: text,
  });
}

/** Returns TYPE as it is written in lisp/, with links to the other types, for a table. */
function typeWords(type) {
  if (typeof type === 'string') return /^[A-Z]/.test(type) ? `[${type}](#${type.toLowerCase()})` : type;
  const [word, ...parts] = type;
  if (word === 'or') return parts.map(typeWords).join(' or ');
  if (word === 'member') return parts.map((text) => `"${text}"`).join(', ');
  if (word === 'list') return `list of ${typeWords(parts[0])}`;
  if (word === 'nullable') return `${typeWords(parts[0])} or null`;
  if (word === 'object') return `object with ${parts[0].map(memberWords).join(', ')}`;
  if (word === 'map') return `object with members of the type ${typeWords(parts[0])}`;
  return `array of ${parts.map(typeWords).join(', ')}`;
}

function memberWords({ name, type, optional }) {
  return `\`${name}\`${optional ? ' (optional)' : ''}: ${typeWords(type)}`;
}

/** Returns a line about each of MEMBERS. */
function memberLines(members) {
  return members.map((member) => {
    const about = member.words === undefined ? '' : `. ${onOneLine(member.words)}`;
    return `- ${memberWords(member)}${about}`;
  });
}

function onOneLine(words) {
  return words.replace(/\s+/g, ' ');
}

function operationLines({ name, words, takes = [], holds, inline, members, resumes, gives }) {
  const how = [
    holds && 'It also takes the members of [Hold](#hold).',
    `It gives ${members ? '' : 'as `value` '}${typeWords(gives)}.`,
    resumes && 'It can also give the answer of the call that the error has stopped.',
    inline && 'The thread that reads does it.',
  ];
  return [
    `### \`${name}\``,
    '',
    onOneLine(words),
    how.filter(Boolean).join(' '),
    '',
    ...memberLines(takes),
    '',
  ];
}

function typeLines({ name, type, words, parents = [] }) {
  const above = parents.map((parent) => typeWords(parent)).join(' and ');
  const more = above === '' ? '' : ` It has the members of ${above} too.`;
  const lines = type[0] === 'object' ? memberLines(type[1]) : [`It is ${typeWords(type)}.`];
  return [`### ${name}`, '', `${onOneLine(words)}${more}`, '', ...lines, ''];
}

/** Returns the part of the page about the wire that says what the operations take and give. */
function wireTables({ types, operations }) {
  const lines = [...operations.flatMap(operationLines), '## Types', '', ...types.flatMap(typeLines)];
  return lines
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trimEnd();
}

/**
 * Returns the text that each file should have that is made from the declarations.
 * @returns {Map<string, string>}
 */
export function wirePages() {
  const declared = declarations();
  const page = readFileSync(join(PROJECT, PAGE), 'utf8');
  const marked = /(<!-- operations:start -->\n)[\s\S]*(<!-- operations:end -->)/;
  return new Map([
    [TYPES_FILE, typesFile(declared)],
    [PAGE, page.replace(marked, (_, start, end) => `${start}${wireTables(declared)}\n${end}`)],
  ]);
}

if (process.argv[1] === import.meta.filename) {
  for (const [file, text] of wirePages()) writeFileSync(join(PROJECT, file), text);
}
