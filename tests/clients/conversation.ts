// A client with a scripted model: what every measure begins with and ends.

import type { Host } from './hosts.ts';
import { type Model, type Next, startModel } from './model.ts';
import { type Place, placeFor } from './place.ts';
import { Script, type Step } from './script.ts';

/** A client that is ready to run, whose model makes the steps of a script. */
export interface Conversation {
  place: Place;
  script: Script;
  model: Model;
}

/** What a conversation is begun with. PROMPT means nothing to the model. */
export const PROMPT = 'Go.';

/** Returns the step that evaluates FORM. */
export function evaluation(form: string): Step {
  return { tool: 'eval_form', args: { form } };
}

/** Sets up HOST with a model that makes STEPS and with FILES in its workspace, and calls USE; then all is removed. */
export async function converse<Value>(
  host: Host,
  steps: readonly Step[],
  files: { [path: string]: string },
  use: (conversation: Conversation) => Promise<Value>,
): Promise<Value> {
  // The model's address is needed for the place, whose wire the script reads.
  let script: Script | undefined;
  const next: Next = (asked) => script?.next(asked) ?? { kind: 'text', text: 'Not yet.' };
  const model = await startModel(next, host.aside);
  const place = placeFor(host, model.url, files);
  script = new Script(steps, host.naming, place.wire);
  try {
    return await use({ place, script, model });
  } finally {
    await model.close();
    await place.remove();
  }
}
