// A small agent: a model gets the schemas of the tools, its calls run through the executor, the results go
// back, until it answers. The model here follows a script; put your provider's call in its place.

import {
  closeImage,
  executeToolCall,
  getAgentQTools,
  type Question,
  registerAgentQTools,
  type ToolCall,
  toolsToSchema,
  type Verdict,
} from 'live-lisp';

type Message =
  | { role: 'user' | 'assistant'; content: string; calls?: ToolCall[] }
  | { role: 'tool'; id: string | null; content: string };

/** Returns what a model would answer to MESSAGES, given the schemas of its TOOLS. */
function model(messages: Message[], tools: ReturnType<typeof toolsToSchema>): Message {
  const turn = messages.filter(({ role }) => role === 'assistant').length;
  const script: [tool: string, args: object][] = [
    ['eval_form', { form: '(defun area (r) (* pi r r))' }],
    ['function_arglist', { symbol: 'area' }],
    ['write_file', { path: 'area.lisp', content: '(defun area (r) (* pi r r))\n' }],
  ];
  const [name, args] = script[turn] ?? [];
  if (name === undefined)
    return { role: 'assistant', content: `Done with ${tools.length} tools to choose from.` };
  return { role: 'assistant', content: '', calls: [{ id: `call-${turn}`, name, arguments: args }] };
}

/** Asks the person at the keyboard; this one always says no. */
function approve({ tool, preview }: Question): Verdict {
  console.log(`? ${tool.name} wants to do this:\n${preview.text}`);
  return { kind: 'denied' };
}

registerAgentQTools();
const tools = toolsToSchema(getAgentQTools());
const messages: Message[] = [{ role: 'user', content: 'Define AREA and keep it in a file.' }];
for (;;) {
  const answer = model(messages, tools);
  messages.push(answer);
  if (!('calls' in answer) || answer.calls === undefined) break;
  for (const call of answer.calls) {
    const result = await executeToolCall(call, { approve });
    const content = result.success ? result.result : result.error;
    console.log(`> ${call.name}\n${content}`);
    messages.push({ role: 'tool', id: result.id, content });
  }
}
console.log(messages.at(-1)?.content);
closeImage();
