// What code in the image writes to the channel of the backend.

import { setTimeout as pause } from 'node:timers/promises';
import type { FileSession } from '../files/sessions.ts';
import { SAY } from '../say.ts';
import { type Attack, unless } from './attack.ts';
import { PING_MS, surelySlowestPing } from './pinging.ts';

/** Messages, in which ID is one of a request that is open. */
const MESSAGES = [
  '{"id":ID,"value":5}',
  '{"id":ID,"value":{"rows":5,"things":7,"methods":{}}}',
  '{"id":ID,"condition":{"frames":5,"restarts":[null]}}',
  '{"id":ID,"output":{"text":5,"omitted":"x"}}',
  '{"id":ID,"held":{"number":"x"}}',
  '{"id":ID,"part":null}',
  '{"id":ID,"interrupted":{"frames":[null,5]}}',
  '{"id":ID,"warnings":[{"text":5,"file":7,"line":{}}],"values":[[{}]]}',
  '{"hello":1,"without":5,"collector":{"active":-1,"count":1e300}}',
  '{"hello":7}',
  '{"built":{"text":5,"set":[null],"defines":7},"job":"x"}',
  '{"replaying":-1,"job":ID}',
  '{"call":1,"tool":5,"args":7}',
  '{"call":null,"tool":"eval_form","args":{"form":"1"}}',
  '{"call":2,"tool":"write_file","args":{"path":"forged","content":"x"},"approved":true}',
  '{"call":3,"register":5}',
  '{"call":4,"register":{"name":"write_file","level":"safe","parameters":[]},"registration":"x","atStart":true}',
  '{"call":5,"left":true}',
  '{"written":5,"id":ID}',
  '{"id":ID,"value":"","parts":{},"ending":5}',
  '{"id":ID,"value":[[[]]],"package":{},"redefined":"x","warnings":{}}',
  '{"id":ID,"value":{"rows":[null,{"name":[]},{"sites":7}],"callers":"many"}}',
  '{"id":ID,"value":{"symbol":{},"label":7,"natures":{},"features":[7]}}',
  '{"id":ID,"value":{"failure":"no-symbol","symbol":[],"near":{}}}',
  '{"id":ID,"value":{"failure":7},"held":[]}',
  '{"id":ID,"value":{"files":["/etc/passwd","/dev/zero"],"file":"/proc/self/environ"}}',
  '{"id":ID,"aborted":true,"interrupted":true,"condition":true}',
  '{"__proto__":{"id":1},"constructor":5}',
];

const FORBIDDEN = /Cannot read properties|is not (?:a function|iterable)|Invalid \w+ length/;

/** Returns the attacks on the session AT. */
export function sayingAttacks(at: FileSession): Attack[] {
  const once = MESSAGES.map((message) => ({
    name: message,
    try: async () => {
      await at.session.eval(SAY);
      const form = `(let ((id (live-lisp.jobs::job-id live-lisp.jobs::*job*)))
        (dotimes (n 50) (say (substitute-text ${JSON.stringify(message)} id n))))`;
      await at.session.eval(
        `(defun substitute-text (text id n) (let ((at (search "ID" text))) (if at (format nil "~A~D~A" (subseq text 0 at) (+ id n) (subseq text (+ at 2))) text)))`,
      );
      const texts = await Promise.all([
        at.answer('eval_form', { form }),
        at.answer('apropos_search', { pattern: 'car' }),
        at.answer('describe_symbol', { symbol: 'car' }),
        at.answer('who_calls', { name: 'say' }),
        at.answer('image_status', {}),
      ]);
      return unless(FORBIDDEN, texts.join('\n')) ?? works(at);
    },
  }));
  const floods = [
    '{"call":ID,"tool":"none","args":{}}',
    '{"call":7,"tool":"none","args":{}}',
    '{"built":{"text":"1"},"job":ID}',
    '{"id":ID,"written":{"text":"x"}}',
  ];
  const many = floods.map((message) => ({
    name: `20,000 times ${message}`,
    try: async () => {
      await at.session.eval(SAY);
      const form = `(dotimes (n 20000) (say (substitute-text ${JSON.stringify(message)} n 0)))`;
      const slowest = await surelySlowestPing(at.session, () =>
        at.answer('eval_form', { form, timeout: 300 }),
      );
      return slowest > PING_MS ? `a ping took ${Math.round(slowest)} ms` : works(at);
    },
  }));
  return [...once, ...many];
}

async function works(at: FileSession): Promise<string | undefined> {
  let text = '';
  // What was said can be for the next calls too, and an image that was lost is told of first.
  for (let tries = 0; tries < 20 && text !== '3'; tries++) {
    await pause(200);
    text = await at.answer('eval_form', { form: '(+ 1 2)' });
  }
  return text === '3' ? undefined : text;
}
