// Compares the answers that tests see with what the operations declare in lisp/, and notes in a file those that differ. The
// programs of the tests do so too.

import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Channel } from '../src/image/wire/channel.ts';

/** A type as scripts/operations.mjs has it. */
type Type = string | [string, ...unknown[]];
interface Member {
  name: string;
  type: Type;
  optional?: boolean;
}
interface Declared {
  types: { name: string; type: Type; parents?: string[] }[];
  operations: { name: string; gives: Type; members?: boolean; resumes?: boolean }[];
}

/** Returns the members of the shape NAME and of its parents; those of the shape come last. */
function membersOf(name: string, types: Declared['types']): Member[] {
  const { type = '', parents = [] } = types.find((each) => each.name === name) ?? {};
  const above = parents.flatMap((parent) => membersOf(parent, types));
  return [...above, ...((type[1] ?? []) as Member[])];
}

/** Returns why VALUE is no object with MEMBERS; undefined when it is. PATH is where it is in the answer. */
function objectProblem(value: unknown, members: Member[], types: Declared['types'], path: string) {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return `${path} is no object`;
  const declared = new Map(members.map((member) => [member.name, member]));
  for (const [name, each] of Object.entries(value)) {
    const member = declared.get(name);
    const problem =
      member === undefined
        ? `${path}.${name} is not declared`
        : typeProblem(each, member.type, types, `${path}.${name}`);
    if (problem !== undefined) return problem;
  }
  const missing = [...declared.values()].find(({ name, optional }) => !optional && !(name in value));
  return missing && `${path}.${missing.name} is missing`;
}

const SIMPLE: Record<string, (value: unknown) => boolean> = {
  anything: () => true,
  string: (value) => typeof value === 'string',
  integer: Number.isInteger,
  real: (value) => typeof value === 'number',
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
};

/** Returns why VALUE is not of TYPE; undefined when it is. */
function typeProblem(value: unknown, type: Type, types: Declared['types'], path: string): string | undefined {
  if (typeof type === 'string') {
    const fits = SIMPLE[type];
    if (fits) return fits(value) ? undefined : `${path} is no ${type}: ${JSON.stringify(value).slice(0, 80)}`;
    const named = types.find(({ name }) => name === type)?.type ?? 'null';
    if (named[0] === 'object') return objectProblem(value, membersOf(type, types), types, path);
    return typeProblem(value, named, types, path);
  }
  const [word, ...parts] = type as [string, ...Type[]];
  const each = (values: unknown[], at: (index: number) => Type) =>
    values
      .map((part, index) => typeProblem(part, at(index), types, `${path}[${index}]`))
      .find((problem) => problem !== undefined);
  switch (word) {
    case 'object':
      return objectProblem(value, parts[0] as unknown as Member[], types, path);
    case 'list':
      return Array.isArray(value) ? each(value, () => parts[0] ?? 'null') : `${path} is no array`;
    case 'map':
      return value instanceof Object
        ? each(Object.values(value), () => parts[0] ?? 'null')
        : `${path} is no object`;
    case 'tuple': {
      const elements = parts.filter((part) => part !== '&optional');
      const least = parts.includes('&optional') ? parts.indexOf('&optional') : elements.length;
      if (!Array.isArray(value) || value.length < least || value.length > elements.length)
        return `${path} has another length`;
      return each(value, (index) => elements[index] ?? 'null');
    }
    case 'nullable':
      return value === null ? undefined : typeProblem(value, parts[0] ?? 'null', types, path);
    case 'member':
      return parts.includes(value as string) ? undefined : `${path} is none of ${parts.join(', ')}: ${value}`;
    default: {
      const problems = parts.map((part) => typeProblem(value, part, types, path));
      return problems.includes(undefined) ? undefined : problems.join(', or ');
    }
  }
}

/** Returns why ANSWER, the members of an answer to OPERATION, differs from what is DECLARED; undefined when it does not. */
export function answerProblem(operation: string, answer: object, declared: Declared): string | undefined {
  const { types, operations } = declared;
  const problemAs = ({ gives, members }: Declared['operations'][number]) => {
    const own: Member[] = members
      ? membersOf(String(gives), types)
      : [...membersOf('Remarks', types), { name: 'value', type: gives, optional: true }];
    return objectProblem(answer, [...membersOf('JobAnswer', types), ...own], types, operation);
  };
  const asked = operations.find(({ name }) => name === operation);
  if (asked === undefined) return `${operation} is not declared`;
  const problem = problemAs(asked);
  return asked.resumes && operations.some((each) => problemAs(each) === undefined) ? undefined : problem;
}

/** Returns what the operations declare, as scripts/build.mjs has written it. */
export function readDeclared(folder: string): Declared {
  return JSON.parse(readFileSync(join(folder, 'declared.json'), 'utf8'));
}

/** Returns the file in FOLDER in which checkAnswers notes what differs. */
export function untrueAnswers(folder: string): string {
  return join(folder, 'untrue-answers.txt');
}

let checking = false;

/** From now on compares each answer that this process gets with its declaration, and notes in FOLDER what differs. */
export function checkAnswers(folder: string): void {
  if (checking || !existsSync(join(folder, 'declared.json'))) return;
  checking = true;
  let declared: Declared | undefined;
  const request = Channel.prototype.request;
  Channel.prototype.request = function (name, args, follow) {
    const asked = request.call(this, name, args, follow) as ReturnType<typeof request<typeof name>>;
    void asked.answer.then(({ ending, data }) => {
      if (ending.kind === 'lost') return;
      declared ??= readDeclared(folder);
      const problem = answerProblem(name, data, declared);
      if (problem !== undefined) appendFileSync(untrueAnswers(folder), `${problem}\n`);
    });
    return asked;
  };
}
