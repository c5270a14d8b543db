// What comes in on stdin, well-formed or not: each gets its answer, and the next call works.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ERAS } from '../harness.ts';
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

test('a second request under the id of one that waits is refused; the first goes on, and can be cancelled', async () => {
  const first = server.callLine('eval_form', { form: '(sleep 60)', timeout: 100 });
  server.write(first.line + first.line);
  const { error: refused } = await server.answer(first.id);
  expect(refused).toEqual({
    code: -32600,
    message: `Invalid request: the request ${first.id} is not answered yet, so nothing was done. Send it under an id of its own.`,
  });
  server.write(
    `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: first.id } })}\n`,
  );
  await until('the end of the first', 60_000, async () => {
    const { text } = await call('image_status', {});
    return !text.includes('(sleep 60)');
  });
});

describe('lines', () => {
  test.each([
    'hello',
    '{"jsonrpc":"2.0","id":1',
    '{"a":1}}',
    "{'a':1}",
    '\u0000',
    '[1,',
    'Content-Length: 20',
  ])('one that is no JSON, %j, gives exactly one line on stderr', async (line) => {
    const complaints = await complaintsAbout(line);
    expect(complaints).toHaveLength(1);
    expect(complaints[0]).toMatch(/^live-lisp: A line on stdin is no JSON \(.*\); it was passed over: /);
  });

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
    '{}',
    'null',
    '5',
    '"x"',
    '{"jsonrpc":"1.0","id":900,"method":"ping"}',
    '{"jsonrpc":"2.0","id":{},"method":"ping"}',
  ])('JSON that is no JSON-RPC, %s, gives one line on stderr', async (line) => {
    expect(await complaintsAbout(line)).toEqual([
      `live-lisp: A line on stdin is no JSON-RPC message; it was passed over: ${line}`,
    ]);
  });

  test.each([1001, 600_000])(
    'a request that is nested %i levels deep is refused, and the next works',
    async (levels) => {
      const form = `${'['.repeat(levels - 2)}${']'.repeat(levels - 2)}`;
      const line = `{"jsonrpc":"2.0","id":901,"method":"tools/call","params":{"name":"eval_form","arguments":{"form":${form}}}}`;
      expect(await complaintsAbout(line)).toEqual([
        `live-lisp: A line on stdin is nested too deep; it was passed over: ${line.slice(0, 80)}`,
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

  test.each(['', ' ', '\t', '\r', '  \r'])('an empty line %j is nothing to complain about', async (line) => {
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

  test('a message may be split anywhere, within a character too', async () => {
    const { id, line } = server.callLine('eval_form', { form: '(length "äλ𝄞")' });
    for (const octet of Buffer.from(line)) {
      await new Promise<void>((resolve) =>
        server.process.stdin.write(Buffer.from([octet]), () => setImmediate(resolve)),
      );
    }
    expect(textOf(await server.answer(id))).toBe('3');
  });

  test('many messages may come in one piece', async () => {
    const calls = Array.from({ length: 50 }, (_, n) => server.callLine('eval_form', { form: `(* 2 ${n})` }));
    server.write(calls.map(({ line }) => line).join(''));
    const answers = await Promise.all(calls.map(({ id }) => server.answer(id)));
    // On a busy machine a note that the evaluation waited follows the value.
    const values = answers.map((answer) => textOf(answer).split('\n')[0]);
    expect(values).toEqual(calls.map((_, n) => String(2 * n)));
  });

  test.each([0, -1, 'a string', 'λ', ''])('the id %j comes back as it was', async (id) => {
    server.write(`${JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' })}\n`);
    const reply = await until('the answer', 60_000, () => server.messages.find((each) => each.id === id));
    expect(reply).toEqual({ jsonrpc: '2.0', id, result: {} });
  });

  test('an unknown method is the protocol error', async () => {
    expect((await server.send(server.request('no/such'))).error?.code).toBe(-32601);
  });
});

describe('odd characters', () => {
  const CODES = [
    0, 1, 0x7f, 0x85, 0xa0, 0xad, 0x2028, 0xfeff, 0xfffe, 0xffff, 0xd800, 0xdbff, 0xdc00, 0xdfff,
  ];
  const NAMED = CODES.map((code) => [code.toString(16), code] as const);

  test.each(NAMED)('U+%s arrives in the image and comes back', async (_, code) => {
    const char = String.fromCharCode(code);
    expect(await server.eval(`(let ((s "a${char}b")) (list (length s) (char-code (char s 1))))`)).toBe(
      `(3 ${code})`,
    );
    expect(await server.eval(`"a${char}b"`)).toBe(`"a${char}b"`);
    expect(await server.eval(`(string (code-char ${code}))`)).toBe(`"${char}"`);
  });

  test('swapped halves stay two characters, and a pair is one', async () => {
    expect(await server.eval('(map \'list #\'char-code "\udc00\ud800")')).toBe(`(${0xdc00} ${0xd800})`);
    expect(await server.eval('(map \'list #\'char-code "\ud834\udd1e")')).toBe(`(${0x1d11e})`);
  });

  test.each(NAMED)('output with U+%s comes back', async (_, code) => {
    const text = await server.eval(`(progn (write-char (code-char ${code})) (write-char #\\z) 1)`);
    expect(text).toBe(`1\n\nOutput:\n${String.fromCharCode(code)}z`);
  });

  test.each(['a\0b', '\ud800', '\udc00x', '\ufffe'])(
    'the symbol %j is not there, and looking does not make it',
    async (name) => {
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
    },
  );

  test.each(['a\0b', '\ud800', 'no such'])('the package %j is not there', async (name) => {
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
  test.each([null, undefined])('that are %j lack what is required', async (args) => {
    expect(await call('eval_form', args)).toEqual(error("Required parameter 'form' missing"));
  });

  test.each([
    ['an array', ['1']],
    ['a string', '(+ 1 2)'],
    ['a number', 5],
  ])('that are %s are a protocol error that names them', async (_, args) => {
    const reply = await server.send(server.callLine('eval_form', args));
    expect(reply.error?.code).toBe(-32602);
    expect(reply.error?.message).toContain('"arguments"');
  });

  test.each([
    ['eval_form', { form: 5 }, noString('form')],
    ['eval_form', { form: ['1'] }, "Parameter 'form' must be a string, not an array."],
    ['eval_form', { form: { a: 1 } }, "Parameter 'form' must be a string, not an object."],
    ['eval_form', { form: true }, "Parameter 'form' must be a string, not a boolean."],
    ['eval_form', { form: '1', timeout: '5' }, "Parameter 'timeout' must be a number, not a string."],
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
    [
      'run_tests',
      { tests: 'x' },
      "Unknown parameter 'tests'; run_tests takes system, package, test, failed, touching, coverage, isolate, seed, repeat, limit, reset, edits, then, on_error, restarts, timeout, fresh.",
    ],
    [
      'load_file',
      { path: 'x', file: 'y' },
      "Unknown parameter 'file'; load_file takes path, forget, check, on_error, restarts, debug_level, timeout, fresh.",
    ],
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
    ['eval', 'Unknown tool: eval. Did you mean eval_form?'],
    ['load-sytem', 'Unknown tool: load-sytem. Did you mean load_system, load_file?'],
    ['describe', 'Unknown tool: describe. Did you mean describe_symbol?'],
    ['zzzzzzzzzzzzzzzzzzzzzzzzz', unknownTool('zzzzzzzzzzzzzzzzzzzzzzzzz')],
  ])('%s is the protocol error that names the nearest', async (name, message) => {
    expect(failure(await other.send(other.callLine(name, {})))).toEqual({ code: -32602, message });
  });

  test.each([{}, { name: 5 }, { name: null }])('a call of %j is the protocol error too', async (params) => {
    expect(failure(await other.send(other.request('tools/call', params))).code).toBe(-32602);
  });
});
