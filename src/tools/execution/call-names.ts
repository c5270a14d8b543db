// Renders running calls for a model: the tool, the number, and the subject of each.

import type { Reason } from '../../image/wire/operations.ts';
import { cutText } from '../../kernel/reply.ts';
import { interrupterText, secondsText } from '../endings.ts';

/** Maps an operation of the image to the tool that requests it, or to a phrase when no tool does. An operation that is
 * missing here has the name of its tool, with hyphens. */
const TOOLS: Record<string, string> = {
  evaluate: 'eval_form',
  'compile-forms': 'compile_form',
  'check-file': 'load_file',
  'load-files': 'rename_symbol',
  'rename-facts': 'rename_symbol',
  'rename-prepare': 'rename_symbol',
  'rename-finish': 'rename_symbol',
  macroexpand: 'macroexpand_form',
  apropos: 'apropos_search',
  describe: 'describe_symbol',
  arglist: 'function_arglist',
  'package-symbols': 'list_package_symbols',
  'last-error': 'get_last_error',
  'load-source': 'the start file',
  'run-tool': 'the tool',
  'system-sources': 'the list of sources',
  'take-turn': 'the wait for another server',
  'give-turn': 'the end of a change',
};

/** Returns the name of the tool that requests an operation of the image, or a phrase such as 'the start file'. */
export function toolOf({ operation }: { operation: string }): string {
  return TOOLS[operation] ?? operation.replaceAll('-', '_');
}

interface NamedCall {
  number: number;
  operation: string;
  subject: string;
  milliseconds: number;
}

/** Returns JOBS as a list within a sentence that asks the model to choose one of them. */
export function choicesText(jobs: readonly NamedCall[]): string {
  const shown = jobs.slice(0, 5).map((job) => {
    const { number, subject, milliseconds } = job;
    const about = subject === '' ? '' : ` ${cutText(subject, 40)}`;
    return `${number} (${toolOf(job)}${about}, ${secondsText(milliseconds)})`;
  });
  const more = jobs.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

const REASONS: Partial<Record<Reason, string>> = {
  timeout: 'at its limit',
  cancelled: 'because the client cancelled it',
};

/** Returns a phrase with the reason why a call is being ended. BY_USER is true when the human on the page ends it. */
export function reasonText(reason: Reason, byUser: boolean): string {
  if (reason === 'interrupt') return interrupterText(byUser);
  return REASONS[reason] ?? 'because the server is ending';
}
