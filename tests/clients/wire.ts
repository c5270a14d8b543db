// What was said between a client and our server, as tee.mjs wrote it.

import { existsSync, readFileSync } from 'node:fs';
import { Json } from './dialects.ts';

/** The messages of one or more connections that a file holds. */
export class Wire {
  readonly file: string;

  constructor(file: string) {
    this.file = file;
  }

  /** The messages so far that FROM sent. */
  messages(from: 'client' | 'server'): Json[] {
    if (!existsSync(this.file)) return [];
    const lines = readFileSync(this.file, 'utf8').split('\n').slice(0, -1);
    const notes = lines.map((line) => JSON.parse(line) as { from: string; line: string });
    return notes
      .filter((note) => note.from === from && note.line !== '')
      .map(({ line }) => new Json(JSON.parse(line)));
  }

  /** The messages of METHOD that FROM sent. */
  of(from: 'client' | 'server', method: string): Json[] {
    return this.messages(from).filter((message) => message.at('method').text === method);
  }

  /** How many calls of TOOL the client began; one that it makes again with an answer of its human counts once. */
  calls(tool: string): number {
    const calls = this.of('client', 'tools/call').map((message) => message.at('params'));
    return calls.filter(
      (call) => call.at('name').text === tool && call.at('inputResponses').value === undefined,
    ).length;
  }

  /** The questions that our server asked the client's human: their messages. */
  get questions(): string[] {
    const legacy = this.of('server', 'elicitation/create').map((message) => message.at('params'));
    const modern = this.messages('server')
      .flatMap((message) => Object.values(Object(message.at('result').at('inputRequests').value)))
      .map((request) => new Json(request).at('params'));
    return [...legacy, ...modern].map((params) => params.at('message').text);
  }
}
