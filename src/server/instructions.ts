// Contains the instructions that the server gives to a model.

import type { ListMode } from '../catalog/list.ts';

/** Codex shows its model only the first line before a search for tools, so this line must be useful alone. Many clients
 * send the text with each request, so all of it must fit into 2,048 octets. */
const INSTRUCTIONS = `Ask and change a running Common Lisp (SBCL) program: evaluate, find symbols, callers and documentation, load, edit, test, debug, profile. Use it for any Lisp work, before reading files.
1. Ask the image first: read_definition sums up a folder by path and reads definitions by name, apropos_search finds symbols, describe_symbol tells all that one names, who_calls finds callers, impact_of_change what a change breaks. names and paths take several; package is the current one by default. Headers give true totals; limit and offset reach the rest.
2. Load, change, check: load_system or load_file brings code in. After a change of a file load_file it: the answer says where image and file still differ. edit_definitions edits definitions by name in many files, with one question to the user; load:true then compiles just these. rename_symbol renames in all files. run_tests loads what changed and tells which tests fail. Change other text with your own tools or propose_file_edit.
3. Do a turn in one call: run_tests takes edits, and forms to evaluate then; eval_form takes several forms; observe records calls and values, or profiles. Definitions, *package* and * ** *** last. For questions about many symbols loop in one form: (live-lisp:call-tool "who_calls" :name "foo") returns data (hash tables, lists, strings, numbers), without limit all rows. All safe and cautious tools do, also new ones. Put code hard to quote into a probe file and load_file it.
4. A Lisp error is an answer: read its type, restarts and frames, correct the form, call again. on_error:"hold" keeps it for debug, which looks into its frames and goes on. What runs too long is interrupted and the image kept; timeout (seconds) gives more. When an image was lost, the next answer says what came back.
Symbols are written PACKAGE::NAME, upcased unless in |bars|. Safe tools only look; cautious tools run code, in a sandbox where one works; dangerous tools change files, after asking the user. A subagent without these tools has the shell command live-lisp, for the same image.`;

/** Maps a list mode to further instructions: how to find the tools that tools/list leaves out. */
const UNLISTED: Record<ListMode, string> = {
  full: '',
  lightweight:
    '\nThe list shows tools without their parameters: search_tools with query:"NAME" and includeSchema:true has them.',
  summary:
    '\nOnly search_tools is listed. It finds the tool for a task, with includeSchema:true its parameters too; call that tool by its name.',
  search:
    '\nOnly two tools are listed: search_tools finds the tool for a task, with includeSchema:true its parameters too, and call_tool calls it.',
};

/** Returns the instructions of a server that lists its tools in the mode LIST. */
export function instructions(list: ListMode): string {
  return INSTRUCTIONS + UNLISTED[list];
}
