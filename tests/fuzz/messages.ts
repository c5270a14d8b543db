// Random messages to a server, most of which MCP knows in part.

import fc from 'fast-check';

const METHODS =
  'initialize notifications/initialized notifications/cancelled ping tools/list tools/call server/discover resources/list logging/setLevel completion/complete no/such'.split(
    ' ',
  );
const json = fc.jsonValue({ maxDepth: 3 });
const meta = fc.dictionary(
  fc.constantFrom(
    'progressToken',
    'io.modelcontextprotocol/protocolVersion',
    'io.modelcontextprotocol/clientCapabilities',
    'x',
  ),
  fc.oneof(json, fc.constantFrom('2026-07-28', '2025-06-18', '1.0')),
);
export const params = fc.oneof(
  json,
  fc.record(
    {
      name: fc.oneof(json, fc.constantFrom('apropos_search', 'call_tool', 'search_tools', 'eval_form')),
      arguments: fc.oneof(json, fc.record({ pattern: json, form: fc.constantFrom('1', '(', '(error "x")') })),
      protocolVersion: fc.oneof(json, fc.constantFrom('2025-06-18', '2026-07-28')),
      capabilities: json,
      clientInfo: json,
      requestId: fc.oneof(json, fc.integer({ min: 0, max: 50 })),
      _meta: fc.oneof(json, meta),
      requestState: json,
      inputResponses: json,
    },
    { requiredKeys: [] },
  ),
);
const id = fc.oneof(
  fc.integer(),
  fc.string(),
  fc.constantFrom(Number.MAX_SAFE_INTEGER, 1e300, '', 'x'.repeat(5000)),
  json,
);
const message = fc.record(
  {
    jsonrpc: fc.oneof({ weight: 9, arbitrary: fc.constant('2.0') }, { weight: 1, arbitrary: json }),
    id,
    method: fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...METHODS) }, { weight: 1, arbitrary: json }),
    params,
    result: json,
    error: json,
  },
  { requiredKeys: [] },
);
/** A message, a batch, or octets. */
export const line = fc.oneof(
  { weight: 8, arbitrary: message.map((each) => Buffer.from(JSON.stringify(each))) },
  {
    weight: 1,
    arbitrary: fc.array(message, { maxLength: 3 }).map((each) => Buffer.from(JSON.stringify(each))),
  },
  {
    weight: 1,
    arbitrary: fc
      .uint8Array({ maxLength: 40 })
      .map((each) => Buffer.from(each.filter((octet) => octet !== 10))),
  },
);
