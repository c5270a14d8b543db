// Decides how what a client asks a model is read, and how the model's answer is written, in each of four dialects.

import type { ServerResponse } from 'node:http';

/** What a model does next: call a tool of the client, run code that does, look for tools, or end with a text. */
export type Action =
  | { kind: 'code'; source: string }
  | { kind: 'call'; name: string; namespace?: string; args: object }
  | { kind: 'search'; query: string }
  | { kind: 'text'; text: string };

/** What a client asks a model, whatever its dialect. */
export interface Asked {
  /** Names of the tools whose parameters the model sees. */
  tools: string[];
  /** How many tools the model has called so far. */
  calls: number;
  /** What the last of these calls brought, as the model reads it. */
  lastResult: string;
  /** All texts of the request. */
  texts: string;
}

/** One dialect of asking a model. */
export interface Dialect {
  /** The end of the paths to which it is posted. */
  path: RegExp;
  read: (body: Json) => Asked;
  write: (action: Action, response: ServerResponse, body: Json) => void;
}

/** Anything that JSON can hold, read without a check: what is missing is undefined or empty. */
export class Json {
  readonly value: unknown;

  constructor(value: unknown) {
    this.value = value;
  }

  at(name: string): Json {
    return new Json((Object(this.value) as { [name: string]: unknown })[name]);
  }

  get list(): Json[] {
    return Array.isArray(this.value) ? this.value.map((each) => new Json(each)) : [];
  }

  get text(): string {
    return typeof this.value === 'string' ? this.value : '';
  }

  /** All strings in it, however deep. */
  get texts(): string[] {
    if (typeof this.value === 'string') return [this.value];
    if (typeof this.value !== 'object' || this.value === null) return [];
    return Object.values(this.value).flatMap((each) => new Json(each).texts);
  }
}

function asked(body: Json, tools: string[], results: Json[], calls: number): Asked {
  return { tools, calls, lastResult: results.at(-1)?.texts.join('\n') ?? '', texts: body.texts.join('\n') };
}

/** Begins a stream of events on RESPONSE, and returns what sends one. */
function events(response: ServerResponse): (data: object, event?: string) => void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  return (data, event) =>
    response.write(`${event ? `event: ${event}\n` : ''}data: ${JSON.stringify(data)}\n\n`);
}

/** Returns ACTION, unless it is one that only Codex has. */
function plain(action: Action): Exclude<Action, { kind: 'code' | 'search' }> {
  if (action.kind === 'code' || action.kind === 'search')
    throw new Error(`This client has no ${action.kind}.`);
  return action;
}

let made = 0;
/** Returns an id that no other answer has. */
function fresh(prefix: string): string {
  made += 1;
  return `${prefix}_${made}`;
}

const ANTHROPIC: Dialect = {
  path: /\/messages$/,
  read(body) {
    const blocks = body.at('messages').list.flatMap((message) => message.at('content').list);
    const of = (type: string) => blocks.filter((block) => block.at('type').text === type);
    const tools = body.at('tools').list.map((tool) => tool.at('name').text);
    const results = of('tool_result').map((block) => block.at('content'));
    return asked(body, tools, results, of('tool_use').length);
  },
  write(action, response, body) {
    const call =
      action.kind === 'search'
        ? { name: 'ToolSearch', args: { query: action.query, max_results: 5 } }
        : plain(action);
    const block =
      'text' in call
        ? { type: 'text', text: call.text }
        : { type: 'tool_use', id: fresh('toolu'), name: call.name, input: call.args };
    const reason = 'text' in call ? 'end_turn' : 'tool_use';
    const usage = { input_tokens: 100, output_tokens: 10 };
    const message = {
      id: fresh('msg'),
      type: 'message',
      role: 'assistant',
      model: body.at('model').text,
      usage,
    };
    if (body.at('stream').value !== true) {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({ ...message, content: [block], stop_reason: reason, stop_sequence: null }),
      );
      return;
    }
    const empty = 'text' in call ? { type: 'text', text: '' } : { ...block, input: {} };
    const delta =
      'text' in call
        ? { type: 'text_delta', text: call.text }
        : { type: 'input_json_delta', partial_json: JSON.stringify(call.args) };
    const end = { stop_reason: reason, stop_sequence: null };
    const send = events(response);
    for (const event of [
      { type: 'message_start', message: { ...message, content: [], stop_reason: null, stop_sequence: null } },
      { type: 'content_block_start', index: 0, content_block: empty },
      { type: 'content_block_delta', index: 0, delta },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: end, usage },
      { type: 'message_stop' },
    ]) {
      send(event, event.type);
    }
    response.end();
  },
};

const RESPONSES: Dialect = {
  path: /\/responses$/,
  read(body) {
    const input = body.at('input').list;
    const later = input.flatMap((item) =>
      item.at('type').text === 'additional_tools' ? item.at('tools').list : [],
    );
    const tools = [...body.at('tools').list, ...later].flatMap((tool) => {
      const inner = tool.at('tools').list.map((each) => `${tool.at('name').text}/${each.at('name').text}`);
      return inner.length > 0 ? inner : [tool.at('name').text || tool.at('type').text];
    });
    const of = (end: string) => input.filter((item) => item.at('type').text.endsWith(end));
    const results = of('_output').map((item) => new Json([item.at('output').value, item.at('tools').value]));
    return asked(body, tools, results, of('_call').length);
  },
  write(action, response) {
    const usage = {
      input_tokens: 100,
      input_tokens_details: null,
      output_tokens: 10,
      output_tokens_details: null,
      total_tokens: 110,
    };
    const item = responsesItem(action);
    const id = fresh('resp');
    const send = events(response);
    for (const event of [
      { type: 'response.created', response: { id } },
      { type: 'response.output_item.added', output_index: 0, item },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: { id, output: [item], usage } },
    ]) {
      send(event, event.type);
    }
    response.end();
  },
};

function responsesItem(action: Action): object {
  const ids = { id: fresh('item'), call_id: fresh('call') };
  if (action.kind === 'text') {
    const content = [{ type: 'output_text', text: action.text }];
    return { type: 'message', role: 'assistant', id: ids.id, content };
  }
  if (action.kind === 'code') {
    return { type: 'custom_tool_call', ...ids, name: 'exec', namespace: 'functions', input: action.source };
  }
  if (action.kind === 'search') {
    const search = { execution: 'client', status: 'completed', arguments: { query: action.query, limit: 8 } };
    return { type: 'tool_search_call', ...ids, ...search };
  }
  const { name, namespace, args } = action;
  return {
    type: 'function_call',
    ...ids,
    name,
    ...(namespace && { namespace }),
    arguments: JSON.stringify(args),
  };
}

const CHAT: Dialect = {
  path: /\/chat\/completions$/,
  read(body) {
    const messages = body.at('messages').list;
    const tools = body.at('tools').list.map((tool) => tool.at('function').at('name').text);
    const results = messages
      .filter((each) => each.at('role').text === 'tool')
      .map((each) => each.at('content'));
    return asked(body, tools, results, messages.flatMap((each) => each.at('tool_calls').list).length);
  },
  write(next, response, body) {
    const action = plain(next);
    const chunk = {
      id: fresh('chat'),
      object: 'chat.completion.chunk',
      created: 1,
      model: body.at('model').text,
    };
    const call = action.kind === 'call' && {
      index: 0,
      id: fresh('call'),
      type: 'function',
      function: { name: action.name, arguments: JSON.stringify(action.args) },
    };
    const delta = call
      ? { role: 'assistant', content: null, tool_calls: [call] }
      : { role: 'assistant', content: 'text' in action ? action.text : '' };
    const usage = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 };
    const send = events(response);
    send({ ...chunk, choices: [{ index: 0, delta, finish_reason: null }] });
    send({
      ...chunk,
      choices: [{ index: 0, delta: {}, finish_reason: call ? 'tool_calls' : 'stop' }],
      usage,
    });
    response.end('data: [DONE]\n\n');
  },
};

/** What Gemini CLI takes for an answer to the questions that it asks beside the conversation. */
const GEMINI_ASIDE = JSON.stringify({
  reasoning: 'none',
  complexity_reasoning: 'none',
  complexity_score: 1,
  model_choice: 'flash',
  next_speaker: 'user',
});

const GEMINI: Dialect = {
  path: /:(?:streamGenerateContent|generateContent)$/,
  read(body) {
    const parts = body.at('contents').list.flatMap((content) => content.at('parts').list);
    const of = (kind: string) =>
      parts.map((part) => part.at(kind)).filter(({ value }) => value !== undefined);
    const tools = body
      .at('tools')
      .list.flatMap((tool) => tool.at('functionDeclarations').list.map((each) => each.at('name').text));
    const results = of('functionResponse').map((each) => each.at('response'));
    return asked(body, tools, results, of('functionCall').length);
  },
  write(next, response, body) {
    const action = plain(next);
    const text = body.at('tools').list.length === 0 ? GEMINI_ASIDE : 'text' in action ? action.text : '';
    const part =
      action.kind === 'call' ? { functionCall: { name: action.name, args: action.args } } : { text };
    const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 2, totalTokenCount: 12 };
    const candidates = [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }];
    if (response.req.url?.includes('stream')) {
      events(response)({ candidates, usageMetadata });
      response.end();
    } else {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ candidates, usageMetadata }));
    }
  },
};

/** All that the four clients speak. */
export const DIALECTS: readonly Dialect[] = [ANTHROPIC, RESPONSES, CHAT, GEMINI];
