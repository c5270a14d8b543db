// Decides what a model is told about the server as a whole.

import type { ListMode } from '../catalog/list.ts';

const INSTRUCTIONS = `A live Common Lisp image (SBCL) that keeps its state between calls. Three rules:
1. Ask the image before you read files: apropos_search finds symbols, describe_symbol tells all that one names, who_calls finds callers. Answers are about the running program and complete: headers give true totals, limit and offset reach the rest.
2. Load, then change, then check: load_system or load_file brings code in (compiled, with warnings by line). Then eval_form evaluates one or more forms; definitions, *package* and * ** *** last. To change a program, change its file and load_file it, so that file and image agree. Change files with your own tools, or with propose_file_edit, which asks the user.
3. A Lisp error is an answer, not a failure of the server: read its type, restarts and frames, correct the form, call again. A form that runs too long is interrupted and the image is kept; give timeout (seconds) for long work. What runs and where is in image_status, and interrupt ends it. If the image was lost, what was defined and loaded is built again; the next answer says what came back and which values are gone.
Code in the image can call every safe or cautious tool too, to filter long answers. (live-lisp:call-tool "who_calls" :name "foo") returns data: hash tables, lists, strings, numbers; without limit all rows.
Symbols are written PACKAGE::NAME; names are upcased unless in |bars|. Safe tools only look. Cautious tools run code with the user's rights, without a sandbox. Before a dangerous tool runs the user is asked, and may say no.`;

/** What a model must know when the list does not show it the tools it can call. */
const UNLISTED: Record<ListMode, string> = {
  full: '',
  lightweight:
    '\nThe list shows tools without their parameters: search_tools with query:"NAME" and includeSchema:true has them.',
  summary:
    '\nOnly search_tools is listed. It finds the tool for a task, with includeSchema:true its parameters too; call that tool by its name.',
  search:
    '\nOnly two tools are listed: search_tools finds the tool for a task, with includeSchema:true its parameters too, and call_tool calls it.',
};

/** Returns the instructions of a server that lists its tools as LIST says. */
export function instructions(list: ListMode): string {
  return INSTRUCTIONS + UNLISTED[list];
}
