// Decides which calls of the tools are frozen whose texts no test of their own has: the usual, the empty, the over-long and the
// bad case. They are made in this order, in one image.

export const CASES = ['usual', 'empty', 'over-long', 'bad'] as const;
type Calls = Partial<Record<(typeof CASES)[number], Record<string, unknown>[]>>;

/** The calls of each tool. What is wrong with the arguments of any tool is tested once for all. */
export const CALLS: Record<string, Calls> = {
  load_file: {
    usual: [{ path: 'shop.lisp' }, { path: 'shop.lisp', check: true }],
    empty: [{ path: 'nothing.lisp' }],
    'over-long': [{ path: 'noisy.lisp' }],
    bad: [{ path: 'no-such-file.lisp' }, { path: 'broken.lisp' }, { path: '.' }],
  },
  debug: {
    empty: [{}],
    bad: [
      { error: 7 },
      { eval: 'x' },
      { error: 1, eval: 'x', retry: true },
      { error: 1, fix: '1', end: true },
      { error: 1, values: ['1'] },
      { hold: true },
      { watch: 'all', type: 'nonsense' },
    ],
  },
  inspect: {
    usual: [{ value: 'shop:*currency*' }, { value: 'shop:price', path: ['parameters'] }],
    empty: [{ value: 'shop::cents' }],
    'over-long': [{ value: 'shop::*long*', limit: 2 }],
    bad: [
      { value: '' },
      { value: '@999' },
      { value: '(list 1)' },
      { value: 'nonexistent' },
      { value: 'shop:price', path: ['nope'] },
    ],
  },
  observe: {
    usual: [
      { form: '(shop:total (list :lamp :chair))', functions: ['shop:total', 'shop:price'] },
      { form: '(shop:total (list :lamp :chair))', functions: ['shop:price'], mode: 'types' },
      { form: '(shop:total (list :lamp 1))', functions: ['shop:price'], where: '(symbolp thing)' },
    ],
    empty: [{ form: '1', functions: ['shop:price'] }],
    'over-long': [{ form: "(mapcar #'shop:price (list :a :bb :ccc))", functions: ['shop:price'], limit: 1 }],
    bad: [
      {},
      { form: '1', functions: [] },
      { form: '1', mode: 'calls' },
      { form: '1', functions: ['shop:price'], mode: 'cpu' },
      { form: '1', seconds: 1, functions: ['shop:price'] },
      { against: '1' },
      { form: '1', against: '2', mode: 'cpu' },
      { form: '1', where: 't' },
      { form: '(', functions: ['shop:price'] },
      { form: '1', functions: ['shop:with-price'] },
      { form: '1', functions: ['shop::order'] },
      { form: '1', functions: ['nonexistent'] },
      { form: '1', functions: ['cl:car'] },
      { form: '1', functions: ['shop:price'], where: '(= size 1)' },
    ],
  },
  describe_symbol: {
    usual: [{ symbol: 'shop:price' }, { symbol: 'total', package: 'SHOP' }, { symbol: 'shop:*currency*' }],
    empty: [{ symbol: 'shop::cents' }],
    'over-long': [{ symbol: 'shop::*long*' }],
    bad: [{ symbol: 'price', package: 'NOWHERE' }],
  },
  eval_form: {
    usual: [
      { form: '(+ 1 2)' },
      { form: '(floor 7 2)' },
      { form: '(defun twice (x) (* 2 x)) (format t "working~%") (twice 21)' },
      { form: '(price :lamp :count 2)', package: 'SHOP' },
    ],
    empty: [{ form: '' }, { form: '(values)' }],
    'over-long': [
      { form: '(dotimes (i 300) (format t "line ~295,,,\'.a~%" i))' },
      { form: '(make-list 5000)' },
    ],
    bad: [
      { form: '(car 1)' },
      { form: '(shop:price)' },
      { form: '(list 1)\n(list 2' },
      { form: '(nowhere:thing)' },
      { form: '1', package: 'NOWHERE' },
      { form: '(loop)', timeout: 2 },
    ],
  },
  load_system: {
    usual: [{ system: 'shop' }],
    empty: [{ system: 'shop/nothing' }, { system: 'shop' }],
    'over-long': [{ system: 'shop/noisy' }],
    bad: [{ system: 'shoe' }],
  },
  run_tests: {
    usual: [{ system: 'shop/tests' }, { failed: true }, { test: 'lamps' }],
    empty: [{ system: 'shop/untested' }, { system: 'shop/own' }],
    'over-long': [{ package: 'SHOP-TESTS', limit: 1 }],
    bad: [{ system: 'shoe' }, { test: 'lampp' }, { package: 'NOWHERE' }, { test: 'lamps', failed: true }],
  },
  edit_definitions: {
    usual: [{ edits: [{ definition: 'shop::idle', op: 'after', text: '(defun busy ())' }], load: true }],
    empty: [{ edits: [{ definition: 'shop::busy', op: 'delete' }], load: true }],
    bad: [{ edits: [{ definition: 'shop::idle', text: '(defun idle ()' }] }],
  },
  restart_image: { usual: [{}], empty: [{ rebuild: 'none' }], 'over-long': [{}] },
  get_audit_log: {
    usual: [{ tool: 'edit_definitions' }, { tool: 'load_system', outcome: 'failed' }],
    empty: [{ outcome: 'unfinished' }],
    'over-long': [{ tool: 'edit_definitions', limit: 1 }],
  },
  interrupt: {
    empty: [{}, { all: true }],
    bad: [{ job: 1 }, { job: 1_000_000 }, { job: 1, all: true }],
  },
};
