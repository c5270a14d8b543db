// Decides which calls over fixtures/demo docs/tools.md shows for each tool; inventory.lisp is loaded before,
// but for tools that load.

export const EXAMPLES = {
  apropos_search: [
    { pattern: 'item', package: 'inventory', type: 'function' },
    { pattern: 'order', package: 'inventoy' },
  ],
  who_calls: [{ name: 'inventory:line-total', sites: true }, { name: 'inventory:restock' }],
  describe_symbol: [{ symbol: 'inventory:order-total' }, { symbol: 'item', package: 'inventory' }],
  eval_form: [
    { form: '(floor 7 2)' },
    { form: `(inventory:order-total '(("lamp" 2) ("Desk" 1)))`, package: 'inventory' },
  ],
  load_system: [{ system: 'inventory' }, { system: 'inventories' }],
  load_file: [{ path: 'inventory.lisp' }],
};

const LOADING = ['load_system', 'load_file'];

/** Returns whether the examples of TOOL need inventory.lisp loaded before. */
export function needsInventory(tool) {
  return !LOADING.includes(tool);
}
