// What is measured of a client without a human: what its model sees of us, and of our answers.

import { type Conversation, converse, evaluation, PROMPT } from './conversation.ts';
import type { Asked, Json } from './dialects.ts';
import type { Host } from './hosts.ts';
import { runHeadless } from './place.ts';
import type { Went } from './script.ts';
import type { Wire } from './wire.ts';

/** What was seen of one client. */
export interface Headless {
  protocol: string;
  calledItself: string;
  toolsInFull: number;
  toolsByName: number;
  namesInFull: string;
  instructions: string;
  /** How often the model was asked until our first answer. */
  firstAnswer: number;
  number: boolean;
  string: boolean;
  notice: boolean;
  progress: string;
  lateTool: boolean;
  refused: string;
}

const LATE_TOOL = `(live-lisp:register-tool live-lisp:*agent-q-registry*
  (live-lisp:define-tool "late_tool" "Answer forty-two." '()
    :handler (lambda (arguments) (declare (ignore arguments)) 42)))`;

const STEPS = {
  number: evaluation('(+ 1 2)'),
  string: evaluation('"hello"'),
  loss: evaluation('(sb-ext:exit :code 3 :abort t)'),
  afterLoss: evaluation('(+ 20 1)'),
  slow: evaluation('(dotimes (step 3 :done) (format t "step ~d~%" step) (finish-output) (sleep 1))'),
  define: evaluation(LATE_TOOL),
  late: { tool: 'late_tool', args: {} },
  write: { tool: 'write_file', args: { path: 'new.lisp', content: '(print 1)\n' } },
};

const PATIENCE_MS = 180_000;

/** Runs HOST without a human through all steps and returns what was seen. */
export function measureHeadless(host: Host): Promise<Headless> {
  return converse(host, Object.values(STEPS), {}, async ({ place, script, model }) => {
    const output = await runHeadless(place, PROMPT, PATIENCE_MS);
    if (!script.done) {
      throw new Error(
        `${host.name} ended after ${script.went.length} steps; it wrote: ${output.slice(-2000)}`,
      );
    }
    return seen({ place, script, model });
  });
}

function seen({ place, script, model }: Conversation): Headless {
  const went = Object.fromEntries(
    Object.keys(STEPS).map((name, index) => [name, script.went[index]]),
  ) as Record<keyof typeof STEPS, Went>;
  const [first, ...later] = model.asked;
  if (first === undefined) throw new Error(`${place.host.name} never asked its model.`);
  return {
    ...protocolOf(place.wire),
    ...toolsOf(first, place.wire, place.host),
    instructions: instructionsIn(instructionsOf(place.wire), first, later),
    firstAnswer: went.number.turn,
    number: /(?<!\d)3(?!\d)/.test(answerIn(went.number)),
    string: /\\?"hello\\?"/.test(answerIn(went.string)),
    notice: went.afterLoss.read.includes('21') && went.afterLoss.read.includes('new Lisp image'),
    progress: progressOf(place.wire),
    lateTool: went.late.sent && went.late.read.includes('42'),
    refused: refusalIn(went.write.read, place.wire),
  };
}

/** What the model reads of an answer, without what clients write before it; nothing of an error. */
function answerIn({ sent, read }: Went): string {
  if (!sent || /tool error|expected record/i.test(read)) return '';
  return read.replace(/wall time.*/gi, '');
}

function protocolOf(wire: Wire): Pick<Headless, 'protocol' | 'calledItself'> {
  const params = [...wire.of('client', 'initialize'), ...wire.of('client', 'tools/list')].map((each) =>
    each.at('params'),
  );
  const meta = (params: Json, name: string) => params.at('_meta').at(`io.modelcontextprotocol/${name}`);
  const protocols = params.map(
    (each) => each.at('protocolVersion').text || meta(each, 'protocolVersion').text,
  );
  const names = params.map(
    (each) => each.at('clientInfo').at('name').text || meta(each, 'clientInfo').at('name').text,
  );
  return { protocol: protocols.find(Boolean) ?? '', calledItself: names.find(Boolean) ?? '' };
}

function toolsOf(
  first: Asked,
  wire: Wire,
  { naming: { name, namespace } }: Host,
): Pick<Headless, 'toolsInFull' | 'toolsByName' | 'namesInFull'> {
  const lists = wire.messages('server').map((message) => message.at('result').at('tools').list);
  const ours = (lists.find(({ length }) => length > 0) ?? []).map((tool) => tool.at('name').text);
  const inModel = (tool: string) => (namespace === undefined ? name(tool) : `${namespace}/${name(tool)}`);
  const full = ours.filter((tool) => first.tools.includes(inModel(tool)));
  const named = ours.filter((tool) => !full.includes(tool) && first.texts.includes(inModel(tool)));
  return { toolsInFull: full.length, toolsByName: named.length, namesInFull: full.join(', ') };
}

function instructionsOf(wire: Wire): string[] {
  const all = wire.messages('server').map((message) => message.at('result').at('instructions').text);
  return (all.find(Boolean) ?? '').split('\n');
}

/** Says how much of the instructions LINES the model was shown at FIRST, and LATER where that is more. */
function instructionsIn(lines: string[], first: Asked, later: Asked[]): string {
  const shown = (asked: Asked) => lines.filter((line) => asked.texts.includes(line)).length;
  const atFirst = shown(first);
  const most = Math.max(atFirst, ...later.map(shown));
  const said = (count: number) =>
    count === lines.length ? 'whole' : count === 0 ? 'none' : `${count} of ${lines.length} lines`;
  return most > atFirst ? `${said(atFirst)}; ${said(most)} later` : said(atFirst);
}

function progressOf(wire: Wire): string {
  const asks = wire
    .of('client', 'tools/call')
    .some((call) => call.at('params').at('_meta').at('progressToken').value !== undefined);
  const notes = wire.of('server', 'notifications/progress').length;
  return asks ? `asked for, ${notes > 0 ? 'sent' : 'none sent'}` : 'not asked for';
}

/** Says how the client answered our question, and what its model READ. */
function refusalIn(read: string, wire: Wire): string {
  const legacy = wire.messages('client').map((message) => message.at('result').at('action').text);
  const modern = wire
    .of('client', 'tools/call')
    .map((call) => call.at('params').at('inputResponses').at('approval').at('action').text);
  const action = [...legacy, ...modern].find(Boolean);
  return `${action === undefined ? 'not asked' : `answered “${action}”`}: ${refusalText(read)}`;
}

/** Returns what READ, the answer to a call that was not allowed, says of why. */
export function refusalText(read: string): string {
  const sentences = /Tool execution denied by user|Nobody answered the question|nobody can be asked/;
  const flag = read.includes('--allow write_file:') ? ', and the flag' : '';
  return `“${sentences.exec(read)?.[0] ?? read.slice(0, 80)}”${flag}`;
}
