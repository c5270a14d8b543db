// Decides what the docs and the token costs know of the tools: what each answers over fixtures/demo.

import { EXAMPLES, LARGEST, LARGEST_FILES } from './examples.mjs';
import { callTool } from './session.mjs';
import { withDemos } from './transcript.mjs';

/** Returns each tool as the server lists it, with what search_tools finds of it. EXAMPLES and LARGEST are the calls of
 *  those with the texts of their answers. */
export async function demoAnswers() {
  return withDemos(async (shared, onDemo) => {
    const all = await shared.callTool({ name: 'search_tools', arguments: { limit: 0 } });
    const answered = [];
    for (const tool of (await shared.listTools()).tools) {
      const found = all.structuredContent.tools.find(({ name }) => name === tool.name);
      answered.push({ tool, found, ...(await onDemo(tool, (client) => answers(client, tool.name))) });
    }
    return answered;
  }, LARGEST_FILES);
}

/** Returns what the tool NAME answers to ARGS. On a busy machine image_status can say that the image has not reacted,
 *  for want of a CPU: it is asked again then. */
async function settledText(client, name, args) {
  for (;;) {
    const { text } = await callTool(client, name, args);
    if (!/^The Lisp image has not reacted for /.test(text)) return text;
  }
}

/** Calls the tool NAME through CLIENT as its examples say. */
async function answers(client, name) {
  if (!(name in EXAMPLES && name in LARGEST)) {
    throw new Error(`scripts/examples.mjs lacks calls of ${name}; add some`);
  }
  const made = { examples: EXAMPLES[name], largest: LARGEST[name] };
  for (const [kind, calls] of Object.entries(made)) {
    made[kind] = [];
    for (const args of calls) made[kind].push({ args, text: await settledText(client, name, args) });
  }
  return made;
}
