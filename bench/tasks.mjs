// Decides how a whole task is measured: what a model would write and read when it calls tools one by one. Beside it
// stands one form that calls them as functions.

import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { connect } from './client.mjs';
import { summarize } from './statistics.mjs';

/** @typedef {{ written: string[], read: string[], answer: string[] }} Transcript */

const SYSTEM = 'hunchentoot';

/** The whole task as one form; what it prints is the answer. */
const FORM = `(format t "~{~(~A~)~^ ~}"
  (loop for (home name label) in (gethash "rows" (live-lisp:call-tool "list_package_symbols" :package "${SYSTEM}"))
        for users = (and (search "FUNCTION" label) (live-lisp:call-tool "who_calls" :name name :package home))
        when (and users (= 0 (gethash "callers" users) (gethash "others" users) (gethash "possible" users)))
          collect name))`;

/** @type {[quantity: 'bytes' | 'tokens', goal: number][]} */
const QUANTITIES = [
  ['bytes', 1 / 10],
  ['tokens', 1 / 10],
];

const NOTE = `Which exported functions of ${SYSTEM} have no caller in the loaded image? A scripted client asks by plain calls,
\`list_package_symbols\` for each type of functions and then \`who_calls\` for each. It also asks by one \`eval_form\`
that calls the same tools as functions. Counted is what a model would write (names and arguments of calls, as JSON) and
read (the texts of answers), without what clients add. Tokens are those of o200k_base, as \`gpt-tokenizer\` counts them. Both ways
give the same answer; this is checked.`;

/**
 * Returns how the task goes each way, with the server of STAGE.
 * @param {import('./contestants.mjs').Stage} stage
 * @returns {Promise<import('./statistics.mjs').Section>}
 */
export async function measureTasks(stage) {
  const client = await connect(stage.ours);
  try {
    await client.call('load_system', { system: SYSTEM });
    const plain = await byPlainCalls(client);
    const inImage = await byOneForm(client);
    if (plain.answer.length === 0 || plain.answer.join() !== inImage.answer.join()) {
      throw new Error(
        `The two ways give other answers, so their sizes mean nothing: ${plain.answer.join(' ')} / ${inImage.answer.join(' ')}`,
      );
    }
    return section(plain, inImage);
  } finally {
    await client.close();
  }
}

/**
 * @param {Transcript} plain
 * @param {Transcript} inImage
 * @returns {import('./statistics.mjs').Section}
 */
function section(plain, inImage) {
  return {
    title: 'A task, by calls and by code in the image',
    note: NOTE,
    shares: {
      head: ['way', 'calls', 'bytes written', 'bytes read', 'tokens', 'functions found'],
      rows: [row('plain calls', plain), row('one `eval_form`', inImage)],
    },
    figures: QUANTITIES.flatMap(([unit, goal]) =>
      summarize(
        [
          { id: `plain.${unit}`, title: `plain: ${unit}`, unit },
          {
            id: `image.${unit}`,
            title: `code in the image: ${unit}`,
            unit,
            baseline: `plain.${unit}`,
            goal: { of: 'ratio', atMost: goal },
          },
        ],
        { [`plain.${unit}`]: [size(plain, unit)], [`image.${unit}`]: [size(inImage, unit)] },
      ),
    ),
  };
}

/**
 * @param {string} title
 * @param {Transcript} transcript
 */
function row(title, transcript) {
  const { written, read, answer } = transcript;
  const numbers = [written.length, bytes(written), bytes(read), size(transcript, 'tokens'), answer.length];
  return [title, ...numbers.map((each) => each.toLocaleString('en'))];
}

/**
 * @param {Transcript} transcript
 * @param {'bytes' | 'tokens'} unit
 */
function size({ written, read }, unit) {
  const texts = [...written, ...read];
  return unit === 'bytes' ? bytes(texts) : texts.reduce((sum, text) => sum + countTokens(text), 0);
}

/** @param {string[]} texts */
function bytes(texts) {
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

/**
 * Returns a way to call tools of CLIENT that keeps what a model would write and read in TRANSCRIPT.
 * @param {import('./client.mjs').Client} client
 * @param {Transcript} transcript
 */
function recorded(client, transcript) {
  return async (/** @type {string} */ name, /** @type {object} */ args) => {
    transcript.written.push(JSON.stringify({ name, arguments: args }));
    const text = await client.call(name, args);
    transcript.read.push(text);
    return text;
  };
}

/**
 * @param {import('./client.mjs').Client} client
 * @returns {Promise<Transcript>}
 */
async function byPlainCalls(client) {
  /** @type {Transcript} */
  const transcript = { written: [], read: [], answer: [] };
  const call = recorded(client, transcript);
  for (const [, home = SYSTEM, name] of await exportedFunctions(call)) {
    const text = await call('who_calls', { name, package: home });
    if (text.startsWith('No callers found for ')) transcript.answer.push(String(name).toLowerCase());
  }
  transcript.answer.sort();
  return transcript;
}

/**
 * Returns the matches of the functions in all pages of the lists, which name nothing else.
 * @param {(name: string, args: object) => Promise<string>} call
 */
async function exportedFunctions(call) {
  /** @type {RegExpMatchArray[]} */
  const functions = [];
  for (const type of ['function', 'generic-function']) {
    for (let offset = 0, more = true; more; ) {
      const text = await call('list_package_symbols', {
        package: SYSTEM,
        type,
        ...(offset > 0 && { offset }),
      });
      const rows = [...text.matchAll(/^ {2}(?:(\S+)::)?(\S+) \[/gm)];
      functions.push(...rows);
      offset += rows.length;
      more = text.includes('\n  ...') && rows.length > 0;
    }
  }
  return functions;
}

/**
 * @param {import('./client.mjs').Client} client
 * @returns {Promise<Transcript>}
 */
async function byOneForm(client) {
  /** @type {Transcript} */
  const transcript = { written: [], read: [], answer: [] };
  const text = await recorded(client, transcript)('eval_form', { form: FORM });
  transcript.answer = (/Output:\n(.*)/s.exec(text)?.[1] ?? '').split(/\s+/).filter(Boolean).sort();
  return transcript;
}
