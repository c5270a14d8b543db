// Decides which calls over fixtures/demo docs/tools.md shows for each tool; inventory.lisp is loaded before,
// but for tools that load.

export const EXAMPLES = {
  apropos_search: [
    { pattern: 'item', package: 'inventory', type: 'function' },
    { pattern: 'order', package: 'inventoy' },
    { pattern: 'ditem', ranked: true },
  ],
  who_calls: [{ name: 'inventory:line-total', sites: true }, { name: 'inventory:restock' }],
  describe_symbol: [
    { symbol: 'inventory:order-total' },
    { symbol: 'item', package: 'inventory' },
    { symbol: 'print-object', arguments: ['inventory:unknown-item', 'stream'] },
  ],
  function_arglist: [{ symbol: 'inventory:order-total' }, { symbol: 'make-instance', methods: true }],
  who_references: [{ name: 'inventory:*stock*', sites: true }, { name: 'inventory:restock' }],
  list_package_symbols: [{ package: 'inventory' }, { package: 'inventory', access: 'internal', limit: 3 }],
  class_slots: [{ class: 'inventory:item' }, { class: 'inventory:unknown-item' }],
  class_hierarchy: [{ class: 'inventory:unknown-item' }, { class: 'arithmetic-error', direction: 'down' }],
  macroexpand_form: [
    { form: '(push item *stock*)', package: 'inventory' },
    { form: '(unless done (when ready (go next)))', mode: 'all' },
  ],
  eval_form: [
    { form: '(floor 7 2)' },
    { form: `(inventory:order-total '(("lamp" 2) ("Desk" 1)))`, package: 'inventory' },
  ],
  compile_form: [
    { form: '(defun cheapest (items) (reduce min items :key item-price))', package: 'inventory' },
    { form: '(defun twice (x) (* 2 x))' },
  ],
  get_last_error: [{}, { index: 9 }],
  get_repl_history: [{ limit: 2 }, { containing: 'defun' }],
  get_audit_log: [{}, { outcome: 'failed', since: '2026-01-01' }],
  debug: [{}, { error: 1 }],
  inspect: [{ value: 'inventory:*stock*' }, { value: 'inventory:*stock*', path: ['0'] }],
  observe: [
    {
      form: `(inventory:order-total '(("lamp" 2) ("desk" 1)))`,
      functions: ['inventory:order-total', 'inventory:line-total', 'inventory:find-item'],
    },
    {
      form: `(inventory:order-total '(("lamp" 2) ("desk" 1)))`,
      functions: ['inventory:line-total'],
      mode: 'types',
    },
  ],
  image_status: [{}],
  interrupt: [{}, { job: 1 }],
  read_definition: [{ name: 'inventory:restock' }, { path: 'inventory.lisp' }],
  rename_symbol: [
    { name: 'inventory:restock', to: 'replenish', dry_run: true },
    { name: 'inventory:restock', to: 'item' },
  ],
  edit_definitions: [
    {
      edits: [
        { definition: 'inventory:restock', old: 'count)\n', new: 'count &key reason)\n' },
        {
          definition: 'inventory:restock',
          op: 'after',
          text: '(defun sold-out-p (item)\n  (zerop (item-count item)))',
        },
      ],
      load: true,
    },
    {
      edits: [{ definition: 'inventory:restock', text: '(defun restock (item)\n  (incf (item-count item))' }],
    },
  ],
  impact_of_change: [
    { name: 'inventory:restock', lambda_list: '(item count &key reason)' },
    { name: 'inventory::find-item', lambda_list: '(name stock)' },
    { name: 'inventory:item', definition: '(defstruct item name count)' },
  ],
  load_system: [{ system: 'inventory' }, { system: 'inventories' }],
  run_tests: [{ system: 'inventory/tests' }, { test: 'unknown-itm' }],
  restart_image: [{}, { rebuild: 'previous' }],
  load_file: [{ path: 'inventory.lisp' }, { path: 'inventory.lisp', check: true }],
  compare_image: [{ path: 'inventory.lisp' }, { package: 'inventory' }],
  read_file: [{ path: 'inventory.asd' }, { path: 'inventory.lisp', start_line: 1, end_line: 6 }],
  read_buffer: [{ buffer: 'inventory.lisp', start_line: 8, limit: 3 }, { buffer: 'inventory.asd' }],
  search_in_buffer: [
    { pattern: 'find-item' },
    { pattern: '^\\(def(var|parameter) ', regex: true, buffer: 'inventory.lisp' },
  ],
  write_file: [
    { path: 'notes/todo.txt', content: 'Count the lamps.\n' },
    { path: 'notes/todo.txt', content: 'Count the lamps.\nCount the desks.\n' },
  ],
  propose_file_edit: [
    { path: 'notes.txt', original: '', modified: 'Desks: 1\nLamps: 2\n', description: 'Count the stock.' },
    { path: 'notes.txt', original: 'Lamps: 2', modified: 'Lamps: 3' },
    { path: 'notes.txt', original: 'Lamp: 2', modified: 'Lamps: 3' },
  ],
  search_tools: [{ query: 'which functions break if I rename this one' }, { query: 'weather in Berlin' }],
};

/** Files of the fixtures that the calls of LARGEST need beside the demo. */
export const LARGEST_FILES = ['transcripts/broken.lisp', 'transcripts/noisy.lisp'];

/** Calls whose answers are about the largest that a tool gives in an ordinary session. */
export const LARGEST = {
  apropos_search: [{ pattern: 'make' }, { pattern: 'string', package: 'cl' }],
  who_calls: [{ name: 'error' }, { name: 'find-item', package: 'inventory', sites: true }],
  describe_symbol: [{ symbol: 'standard-class' }, { symbol: 'format' }],
  function_arglist: [{ symbol: 'sb-ext:run-program' }, { symbol: 'print-object', methods: true }],
  who_references: [{ name: '*standard-output*' }, { name: 'inventory:*stock*', sites: true }],
  list_package_symbols: [{ package: 'cl' }, { package: 'sb-kernel', access: 'internal' }],
  class_slots: [{ class: 'standard-class' }, { class: 'hash-table' }],
  class_hierarchy: [{ class: 'condition' }, { class: 't' }],
  macroexpand_form: [
    { form: '(defstruct point x y)', mode: 'all' },
    { form: '(loop for n below 10 when (oddp n) collect n into odds finally (return odds))', mode: 'all' },
  ],
  eval_form: [
    { form: '(loop for n below 1000 collect (* n n))' },
    { form: '(error "No ~A." (make-list 20))' },
    { form: '(defun f (x) (+ y (g "a") z))' },
  ],
  compile_form: [
    { form: '(defun add (a b) (declare (optimize speed)) (+ a b))' },
    { form: '(defun f (x) (+ y (g "a") z))' },
  ],
  get_last_error: [{}],
  get_repl_history: [{}],
  get_audit_log: [{}],
  debug: [{ watch: 'all', hold: true }, { unwatch: true }],
  inspect: [{ value: 'standard-class' }, { value: 'inventory:*stock*' }],
  observe: [
    {
      form: `(dotimes (time 10) (inventory:order-total '(("lamp" 2) ("desk" 1))))`,
      functions: ['inventory:'],
      limit: 4,
    },
  ],
  image_status: [{}],
  interrupt: [{ all: true }, { job: 1 }],
  read_definition: [
    { name: 'inventory:restock inventory:item inventory::find-item', methods: true, around: 5 },
  ],
  edit_definitions: [
    { edits: [{ definition: 'inventory::find-item', old: '(name)', new: '(name stock)' }], load: true },
  ],
  // Places in live-lisp itself would make these differ between folders.
  rename_symbol: [{ name: 'inventory:item', to: 'ware', dry_run: true }],
  impact_of_change: [{ name: 'inventory::find-item', lambda_list: '(name)' }],
  load_system: [{ system: 'inventory', force: true }],
  run_tests: [{ system: 'inventory/tests' }],
  restart_image: [{}],
  load_file: [{ path: 'broken.lisp' }, { path: 'noisy.lisp' }],
  compare_image: [{ path: 'inventory.lisp' }],
  read_file: [{ path: 'noisy.lisp', limit: 2000 }, { path: 'inventory.lisp' }],
  read_buffer: [{ buffer: 'noisy.lisp', limit: 2000 }],
  search_in_buffer: [{ pattern: '(', limit: 200 }],
  write_file: [{ path: 'long.txt', content: 'A line of text.\n'.repeat(200) }],
  propose_file_edit: [{ path: 'long.txt', original: '', modified: 'A line of text.\n'.repeat(100) }],
  search_tools: [{}, { includeSchema: true }],
};

const LOADING = ['load_system', 'load_file'];

/** Returns whether the examples of TOOL need inventory.lisp loaded before. */
export function needsInventory(tool) {
  return !LOADING.includes(tool);
}

const OF_CALLS = ['get_last_error', 'get_repl_history', 'get_audit_log', 'image_status', 'search_tools'];

/** Returns whether the answers of TOOL depend on the calls before. */
export function describesCalls(tool) {
  return OF_CALLS.includes(tool);
}
