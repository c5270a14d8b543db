// Checks the arguments of built-in tools before a session is looked for or started.

import { messageOf, UsageError } from '../errors.ts';
import { type Signature, validateArguments } from '../kernel/schema.ts';
import { optionOf } from './words.ts';

/** The names and parameters of all built-in tools as JSON, with the parameter that names the image of a session with
 *  several. The build defines this. */
declare const BUILT_IN_SIGNATURES: string;

/** Returns the signature of the built-in TOOL; undefined when it is none. */
export function signatureOf(tool: string): Signature | undefined {
  return (JSON.parse(BUILT_IN_SIGNATURES) as Signature[]).find(({ name }) => name === tool);
}

/** Throws a UsageError when ARGS are wrong for SIGNATURE. USAGE is the usage of the verb, if its words gave ARGS; the
 *  error then names an option instead of a parameter. */
export function checkArguments(signature: Signature, args: object, usage?: string): void {
  try {
    validateArguments(signature, args);
  } catch (error) {
    const text = messageOf(error);
    if (usage === undefined) throw new UsageError(text);
    throw new UsageError(
      text.startsWith('Required parameter')
        ? `Usage: live-lisp ${usage}`
        : text.replace(/^Parameter '(\w+)'/, (_, name: string) => `The option ${optionOf(name)}`),
    );
  }
}
