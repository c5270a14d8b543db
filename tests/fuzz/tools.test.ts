// Every tool with any arguments, in a workspace of hostile files: the server answers each call, and a ping meanwhile.

import { readFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { putHostileFiles } from '../attacks/hostile-files.ts';
import { PING_MS, slowestPing, surelySlowestPing } from '../attacks/pinging.ts';
import { SHAPES } from '../attacks/shapes.ts';
import { sharedWorkspace } from '../files/sessions.ts';
import type { Answer } from '../harness.ts';
import { LONG, PATIENCE_MS } from '../long.ts';
import { fractionsFrom } from '../random.ts';
import { imagesOf } from '../server/processes.ts';

/** Milliseconds for which calls are made. */
const RUN_MS = LONG ? 30 * 60_000 : 3_000;

/** What ends the image is tried elsewhere. */
const LEFT_OUT = ['restart_image'];

interface Tool {
  name: string;
  inputSchema: { properties?: { [name: string]: Property } };
}

interface Property {
  type?: string;
  enum?: unknown[];
  items?: Property & { properties?: { [name: string]: Property } };
  properties?: { [name: string]: Property };
}

let files: string[];
let tools: Tool[];
let image: number[];
const at = sharedWorkspace({ args: ['--eval-timeout', '5'] });
beforeAll(async () => {
  files = putHostileFiles(at, 60_000);
  at.put('good.lisp', '(defun good-one (x) (1+ x))\n(defun good-two (x) (good-one x))\n');
  await at.answer('load_file', { path: 'good.lisp' });
  image = imagesOf(at.session.pid);
  const listed = await at.session.client.listTools();
  tools = (listed.tools as unknown as Tool[]).filter(({ name }) => !LEFT_OUT.includes(name));
});

const seed = LONG ? Date.now() % 1_000_000 : 43;
const next = fractionsFrom(seed);
const choose = <Item>(items: readonly Item[]): Item => items[Math.floor(next() * items.length)] as Item;

function anyText(): string {
  const kind = next();
  if (kind < 0.35) return choose(files);
  if (kind < 0.6)
    return choose([
      'good-one',
      'GOOD-TWO',
      'car',
      'cl:car',
      '*print-base*',
      'good.lisp',
      'CL-USER',
      '.',
      '/',
      '',
      '..',
      'x',
      '(good-one 1)',
      '(+ 1 2)',
      '#.(loop)',
      '\u0000',
      '|a\nb|',
    ]);
  return choose(Object.values(SHAPES))(Math.floor(10 ** (1 + 4 * next())));
}

function anyValue(property: Property, depth = 0): unknown {
  if (next() < 0.05) return choose([null, -1, 2.5, 1e300, 'x', [], {}, true]);
  if (property.enum !== undefined && next() < 0.8) return choose(property.enum);
  if (property.type === 'boolean') return next() < 0.5;
  if (property.type === 'integer' || property.type === 'number') return choose([0, 1, 2, 20, 1000, -1, 1e9]);
  const items = property.items ?? {};
  if (property.type === 'array' && depth < 3)
    return Array.from({ length: Math.floor(4 * next()) }, () => anyValue(items, depth + 1));
  if (property.type === 'object' && depth < 3) return anyArguments(property.properties ?? {}, depth + 1);
  return anyText();
}

function anyArguments(properties: { [name: string]: Property }, depth = 0): { [name: string]: unknown } {
  const given = Object.entries(properties).filter(([name]) => name !== 'timeout' && next() < 0.6);
  // A call that is told to take seconds takes them, and shows nothing in the others.
  const value = (name: string, property: Property) =>
    name === 'seconds' ? next() : anyValue(property, depth);
  return {
    ...Object.fromEntries(given.map(([name, property]) => [name, value(name, property)])),
    ...('timeout' in properties && { timeout: 5 }),
  };
}

/** Expects that an answer says in words what came of the call. */
function expectAnswer({ text, isError }: Answer): void {
  expect(text.length).toBeLessThan(60_000);
  expect(isError && text === '').toBe(false);
  expect(text).not.toMatch(/TypeError|is not a function|Cannot read|backend failed|image was lost during/);
}

/** Returns CALL for a message, which stays short. */
function reported(call: { name: string; args: object }): string {
  const text = JSON.stringify(call);
  return text.length > 600 ? `${text.slice(0, 600)}... (${text.length} characters)` : text;
}

test(
  `each call is answered in words, and a ping within ${PING_MS} ms of the server's time (seed ${seed})`,
  async () => {
    const slow: string[] = [];
    const end = performance.now() + RUN_MS;
    let calls = 0;
    while (performance.now() < end || calls < 4 * tools.length) {
      const { name, inputSchema } = tools[calls % tools.length] as Tool;
      const args = anyArguments(inputSchema.properties ?? {});
      const work = async () => expectAnswer(await at.session.call(name, args));
      calls++;
      if ((await slowestPing(at.session, work)) <= PING_MS) continue;
      const sure = await surelySlowestPing(at.session, work);
      if (sure > PING_MS) slow.push(`${Math.round(sure)} ms: ${reported({ name, args })}`);
    }
    console.log(`${calls} calls; ${slow.length} were slow`);
    expect(slow).toEqual([]);
    expect(await at.session.eval('(good-two 1)', { timeout: 60 })).toBe('2');
    expect(imagesOf(at.session.pid)).toEqual(image);
    expect(
      Number(/VmHWM:\s*(\d+)/.exec(readFileSync(`/proc/${at.session.pid}/status`, 'utf8'))?.[1]),
    ).toBeLessThan(1_500_000);
  },
  PATIENCE_MS + RUN_MS,
);

test('an index that is no number of an error costs no image', async () => {
  await at.session.call('eval_form', { form: '(error "one")' });
  expect(await at.session.text('get_last_error', { index: 1e300 })).toMatch(/error/);
  expect(await at.session.eval('(good-two 1)', { timeout: 60 })).toBe('2');
});
