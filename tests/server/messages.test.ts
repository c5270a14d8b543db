// What comes in on stdin, well-formed or not: each gets its answer, and the next call works.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ERAS } from '../harness.ts';
import { everyNth } from '../long.ts';
import { belowOne, noString, unknownTool } from '../said.ts';
import { imagesOf, until } from './processes.ts';
import { RawServer, type Reply, textOf } from './raw.ts';

let server: RawServer;
let image: number[];
beforeAll(async () => {
  server = await new RawServer().connect();
  await server.eval('(defvar *before* :kept)');
  image = imagesOf(server.pid);
});
afterAll(() => server.kill());

// Nothing that comes in costs the image, or what is in it.
afterEach(async () => {
  expect(await server.eval('*before*')).toBe(':KEPT');
  expect(imagesOf(server.pid)).toEqual(image);
});

/** Sends LINE and returns what the server wrote to standard error until it had answered the next request. */
async function complaintsAbout(line: string): Promise<string[]> {
  const before = server.complaints.length;
  server.write(`${line}\n`);
  await server.send(server.request('ping'));
  return server.complaints.slice(before);
}

/** Calls the tool NAME with ARGS and returns the text and whether it is an error. */
async function call(name: string, args: unknown): Promise<{ text: string; isError: boolean | undefined }> {
  const reply = await server.send(server.callLine(name, args));
  return { text: textOf(reply), isError: reply.result?.isError };
}

function error(text: string) {
  return { text, isError: true };
}

test('a second request under the id of one that waits is refused, well-formed or not; the first goes on, and can be cancelled', async () => {
  const first = server.callLine('eval_form', { form: '(sleep 60)', timeout: 100 });
  const invalid = `{"jsonrpc":"1.0","id":${first.id},"method":"ping"}\n`;
  server.write(first.line + invalid);
  await server.answer(first.id);
  server.write(first.line);
  const refusals = () => server.messages.filter(({ id }) => id === first.id);
  await until('both refusals', 60_000, () => refusals().length === 2);
  expect(refusals().map(({ error: refused }) => refused)).toEqual([
    expect.objectContaining({ code: -32600 }),
    {
      code: -32600,
      message: `Invalid request: a request with the id ${first.id} is not answered yet, so nothing was done. Send this one with another id.`,
    },
  ]);
  server.write(
    `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: first.id } })}\n`,
  );
  await until('the end of the first', 60_000, async () => {
    const { text } = await call('image_status', {});
    return !text.includes('(sleep 60)');
  });
});

describe('lines', () => {
  test.each(['{"jsonrpc":"2.0","id":1', '\u0000', 'Content-Length: 20'])(
    'one that is no JSON, %j, gives exactly one line on stderr',
    async (line) => {
      const complaints = await complaintsAbout(line);
      expect(complaints).toHaveLength(1);
      expect(complaints[0]).toMatch(/^live-lisp: A line on stdin is not JSON \(.*\); it was skipped: /);
    },
  );

  test('the line on stderr is short and shows how the other began', async () => {
    const [complaint = ''] = await complaintsAbout(`begins ${'x'.repeat(100_000)}`);
    expect(complaint).toContain('begins xxx');
    expect(complaint.length).toBeLessThan(300);
  });

  test('octets that are no UTF-8 give one line on stderr', async () => {
    const before = server.complaints.length;
    server.write(Buffer.from([0xff, 0xfe, 0xc3, 0x28, 10]));
    await server.send(server.request('ping'));
    expect(server.complaints.slice(before)).toHaveLength(1);
  });

  test.each([
    '[1,2]',
    'null',
    '{"jsonrpc":"1.0","id":900,"method":"ping"}',
    '{"jsonrpc":"2.0","id":{},"method":"ping"}',
  ])('JSON that is no JSON-RPC, %s, gives one line on stderr', async (line) => {
    expect(await complaintsAbout(line)).toEqual([
      `live-lisp: A line on stdin is not a JSON-RPC message; it was skipped: ${line}`,
    ]);
  });

  test.each([1001, 600_000])(
    'a request that is nested %i levels deep is refused, and the next works',
    async (levels) => {
      const form = `${'['.repeat(levels - 2)}${']'.repeat(levels - 2)}`;
      const line = `{"jsonrpc":"2.0","id":901,"method":"tools/call","params":{"name":"eval_form","arguments":{"form":${form}}}}`;
      expect(await complaintsAbout(line)).toEqual([
        `live-lisp: A line on stdin is nested too deep; it was skipped: ${line.slice(0, 80)}`,
      ]);
      expect((await server.answer(901)).error).toEqual({
        code: -32600,
        message:
          'Invalid request: it is nested more than 1000 levels deep, so nothing was done. Nest its arguments less.',
      });
    },
  );

  test('a request that is nested less deep gets its answer', async () => {
    const form = `${'['.repeat(900)}${']'.repeat(900)}`;
    const line = `{"jsonrpc":"2.0","id":902,"method":"tools/call","params":{"name":"eval_form","arguments":{"form":${form}}}}`;
    expect(await complaintsAbout(line)).toEqual([]);
    expect(textOf(await server.answer(902))).toBe("Parameter 'form' must be a string, not an array.");
  });

  test.each(['', ' \t\r'])('an empty line %j is nothing to complain about', async (line) => {
    expect(await complaintsAbout(line)).toEqual([]);
  });

  test.each([
    '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":987654}}',
    '{"jsonrpc":"2.0","method":"notifications/unheard/of"}',
    '{"jsonrpc":"2.0","id":987654,"result":{}}',
  ])('what needs no answer gets none: %s', async (line) => {
    const before = server.messages.length;
    await complaintsAbout(line);
    expect(server.messages.slice(before)).toHaveLength(1);
  });

  test('CRLF ends a line too', async () => {
    const { id, line } = server.callLine('eval_form', { form: '(+ 20 3)' });
    server.write(line.replace('\n', '\r\n'));
    expect(textOf(await server.answer(id))).toBe('23');
  });

  test.each([0, 'λ', ''])('the id %j comes back as it was', async (id) => {
    server.write(`${JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' })}\n`);
    const reply = await until('the answer', 60_000, () => server.messages.find((each) => each.id === id));
    expect(reply).toEqual({ jsonrpc: '2.0', id, result: {} });
  });

  test('an unknown method is the protocol error', async () => {
    expect((await server.send(server.request('no/such'))).error?.code).toBe(-32601);
  });
});

describe('long messages', () => {
  const MEGA = 1_000_000;

  // A string of 5 MB, and in the long run one of 20 MB, with characters outside ASCII.
  test.each(everyNth(2, [5, 20]))('a form of %d MB is evaluated', async (megabytes) => {
    const count = (megabytes * MEGA) / 2;
    expect(await server.eval(`(length "${'λ'.repeat(count)}")`)).toBe(String(count));
  });

  test('an unreadable form of 5 MB is told by line and column', async () => {
    const text = await server.eval(`(list ${'\n'.repeat(5 * MEGA)}\n   #<x>)`);
    expect(text).toBe(
      `Error: form 1 cannot be read: illegal sharp macro character: #\\<\n` +
        `The form begins at line 1, column 1; reading stopped at line ${5 * MEGA + 2}, column 6. Nothing was evaluated.`,
    );
  });

  test('a form that is over the limit of the wire to the image is refused with a text that says so', async () => {
    // There each of these characters takes six octets: more than a frame may have.
    const reply = await server.send(server.callLine('eval_form', { form: `"${'é'.repeat(12 * MEGA)}"` }));
    expect(reply.result?.isError).toBe(true);
    expect(reply.result?.content?.[0]?.text).toMatch(/too (?:long|large|big)|limit/);
  });

  test('a line over 64 MB is passed over with one line on stderr', async () => {
    const block = Buffer.alloc(1024 * 1024, 'x');
    for (let megabytes = 0; megabytes < 65; megabytes++) {
      await new Promise<void>((resolve) => server.process.stdin.write(block, () => resolve()));
    }
    server.write('\n');
    await server.send(server.request('ping'));
    expect(server.complaints.slice(-1)).toEqual([
      `live-lisp: A line of ${65 * 1024 * 1024} octets was skipped; the limit is ${64 * 1024 * 1024}.`,
    ]);
  });
});

describe('odd characters', () => {
  test.each([
    ['0', 0],
    ['2028', 0x2028],
    ['FEFF', 0xfeff],
    ['FFFE', 0xfffe],
    ['D800', 0xd800],
    ['DFFF', 0xdfff],
  ])('U+%s arrives in the image and comes back, as output too', async (_, code) => {
    const char = String.fromCharCode(code);
    expect(await server.eval(`(let ((s "a${char}b")) (list (length s) (char-code (char s 1))))`)).toBe(
      `(3 ${code})`,
    );
    expect(await server.eval(`"a${char}b"`)).toBe(`"a${char}b"`);
    const form = `(progn (write-char (code-char ${code})) (write-char #\\z) (string (code-char ${code})))`;
    expect(await server.eval(form)).toBe(`"${char}"\n\nOutput:\n${char}z`);
  });

  test('swapped halves stay two characters, and a pair is one', async () => {
    expect(await server.eval('(map \'list #\'char-code "\udc00\ud800")')).toBe(`(${0xdc00} ${0xd800})`);
    expect(await server.eval('(map \'list #\'char-code "\ud834\udd1e")')).toBe(`(${0x1d11e})`);
  });

  test.each(['a\0b', '\ud800'])('the symbol %j is not there, and looking does not make it', async (name) => {
    for (const [tool, args] of [
      ['describe_symbol', { symbol: `|${name}|` }],
      ['who_calls', { name: `|${name}|` }],
    ] as const) {
      expect(await call(tool, args)).toEqual({
        text: `Symbol ${name} not found in package CL-USER (status: NIL)`,
        isError: false,
      });
    }
    expect(
      await server.eval(
        `(find-symbol (map 'string #'code-char '(${[...name].map((c) => c.codePointAt(0)).join(' ')})))`,
      ),
    ).toBe('NIL\nNIL');
  });

  test.each(['a\0b', '\ud800'])('the package %j is not there', async (name) => {
    for (const [tool, args] of [
      ['describe_symbol', { symbol: 'car', package: name }],
      ['who_calls', { name: 'car', package: name }],
      ['apropos_search', { pattern: 'car', package: name }],
    ] as const) {
      expect(await call(tool, args)).toEqual({ text: `Package ${name} not found`, isError: false });
    }
    expect(await call('eval_form', { form: '1', package: name })).toEqual(error(`Package ${name} not found`));
  });
});

describe('arguments', () => {
  test('that are null lack what is required', async () => {
    expect(await call('eval_form', null)).toEqual(error("Required parameter 'form' missing"));
  });

  test('that are no object are a protocol error that names them', async () => {
    const reply = await server.send(server.callLine('eval_form', ['1']));
    expect(reply.error?.code).toBe(-32602);
    expect(reply.error?.message).toContain('"arguments"');
  });

  test.each([
    ['eval_form', { form: 5 }, noString('form')],
    ['eval_form', { form: { a: 1 } }, "Parameter 'form' must be a string, not an object."],
    ['eval_form', { form: '1', timeout: true }, "Parameter 'timeout' must be a number, not a boolean."],
    ['eval_form', { form: '1', timeout: 0 }, "Parameter 'timeout' must be at least 0.1, not 0."],
    ['eval_form', { form: '1', timeout: 1e9 }, "Parameter 'timeout' must be at most 86400, not 1000000000."],
    [
      'apropos_search',
      { pattern: 'x', limit: 2.5 },
      "Parameter 'limit' must be an integer, not the number 2.5.",
    ],
    ['apropos_search', { pattern: 'x', limit: 0 }, belowOne('limit')],
    ['load_system', { system: 'x', force: 1 }, "Parameter 'force' must be a boolean, not the number 1."],
    ['macroexpand_form', { form: '1', mode: 'two' }, "Parameter 'mode' must be one of one, full, all."],
    ['who_calls', { names: ['car', ['cdr']] }, "Parameter 'names[1]' must be a string, not an array."],
    ['edit_definitions', { edits: [null] }, "Parameter 'edits[0]' must be an object, not null."],
  ])('%s of %j says what is wrong', async (name, args, text) => {
    expect(await call(name, args)).toEqual(error(text));
  });

  test('an unknown parameter is shown short and without control characters', async () => {
    const { text } = await call('load_file', { path: 'x', [`a\n\0${'b'.repeat(1000)}`]: 1 });
    expect(text).toBe(
      `Unknown parameter 'a  ${'b'.repeat(77)}...'; load_file takes path, forget, check, on_error, restarts, debug_level, timeout, fresh.`,
    );
  });
});

describe.each(ERAS)('an unknown tool in the %s era', (era) => {
  let other: RawServer;
  beforeAll(async () => {
    other = await new RawServer({ era }).connect();
  });
  afterAll(() => other.kill());

  const failure = (reply: Reply) => ({ code: reply.error?.code, message: reply.error?.message });

  test.each([
    ['load-sytem', 'Unknown tool: load-sytem. Did you mean load_system, load_file?'],
    ['zzzzzzzzzzzzzzzzzzzzzzzzz', unknownTool('zzzzzzzzzzzzzzzzzzzzzzzzz')],
  ])('%s is the protocol error that names the nearest', async (name, message) => {
    expect(failure(await other.send(other.callLine(name, {})))).toEqual({ code: -32602, message });
  });

  test('a call without a name is the protocol error too', async () => {
    expect(failure(await other.send(other.request('tools/call', {}))).code).toBe(-32602);
  });
});
