// Decides which calls of each tool are frozen: the usual, the empty, the over-long and the bad case.

import { DEBUGGING } from './debugging.ts';

export const CASES = ['usual', 'empty', 'over-long', 'bad'] as const;
/** Arguments that the tool takes and answers with words of its own: what is wrong with any tool's is tested once for all. */
export type Calls = Partial<Record<(typeof CASES)[number], Record<string, unknown>[]>>;

/** Those of the tools for code and the image. */
export const IMAGE_CALLS: Record<string, Calls> = {
  load_file: {
    usual: [{ path: 'shop.lisp' }, { path: 'shop.lisp', check: true }],
    empty: [{ path: 'nothing.lisp' }],
    'over-long': [{ path: 'noisy.lisp' }],
    bad: [{ path: 'no-such-file.lisp' }, { path: 'broken.lisp' }, { path: '.' }],
  },
  apropos_search: {
    usual: [
      { pattern: 'price', package: 'SHOP' },
      { pattern: 'MapCar', package: 'CL' },
    ],
    empty: [{ pattern: 'xyznonexistent' }, { pattern: 'mapcar', package: 'SHOP' }],
    'over-long': [
      { pattern: 'make', package: 'CL', limit: 3 },
      { pattern: 'make', package: 'CL', limit: 2, offset: 3 },
    ],
  },
  who_calls: {
    usual: [
      { name: 'price', package: 'SHOP' },
      { name: 'shop:price', sites: true },
      { name: 'with-price', package: 'SHOP' },
      { names: ['shop:price', 'shop:total'] },
      { package: 'shop', unused: true },
    ],
    empty: [{ name: 'idle', package: 'SHOP' }, { name: 'shop:*currency*' }],
    'over-long': [{ name: 'price', package: 'SHOP', limit: 1 }],
    bad: [{ package: 'nowhere', unused: true }, { names: [] }],
  },
  impact_of_change: {
    usual: [
      { name: 'shop:price', lambda_list: '(thing count)' },
      { name: 'shop:total', definition: '(defmethod total (order unit))' },
      { name: 'shop::order', definition: '(defclass order () ((lines :accessor order-lines)))' },
    ],
    empty: [{ name: 'shop::idle', lambda_list: '(thing)' }],
    'over-long': [{ name: 'shop:price', lambda_list: '()', limit: 1 }],
    bad: [{ name: 'nonexistent' }, { name: 'shop:price', lambda_list: '(' }],
  },
  rename_symbol: {
    usual: [{ name: 'shop::order', to: 'purchase', dry_run: true }],
    empty: [{ name: 'shop:price', to: 'price' }],
    'over-long': [{ name: 'shop:price', to: '|A price that is long for a name|', dry_run: true }],
    bad: [
      { name: 'nonexistent', to: 'thing' },
      { name: 'shop:price', to: 'total' },
      { name: 'car', to: 'first-of' },
      { name: 'shop:price', to: '(price)' },
    ],
  },
  ...DEBUGGING,
  describe_symbol: {
    usual: [{ symbol: 'shop:price' }, { symbol: 'total', package: 'SHOP' }, { symbol: 'shop:*currency*' }],
    empty: [{ symbol: 'shop::cents' }],
    'over-long': [{ symbol: 'shop::*long*' }],
    bad: [{ symbol: 'price', package: 'NOWHERE' }],
  },
  function_arglist: {
    usual: [
      { symbol: 'shop:price' },
      { symbol: 'with-price', package: 'SHOP' },
      { symbol: 'shop:total', methods: true },
      { symbol: '(setf shop::order-note)' },
    ],
    empty: [{ symbol: 'shop:*currency*' }],
    'over-long': [{ symbol: 'shop:total', methods: true, limit: 1 }],
  },
  who_references: {
    usual: [{ name: 'shop:*currency*' }, { name: '*currency*', package: 'SHOP', sites: true }],
    empty: [{ name: 'shop::*long*' }, { name: 'shop:price' }],
    'over-long': [{ name: 'shop:*currency*', limit: 1 }],
  },
  list_package_symbols: {
    usual: [{ package: 'shop' }, { package: 'shop', access: 'internal', type: 'function' }],
    empty: [{ package: 'shop', type: 'class' }],
    'over-long': [{ package: 'shop', access: 'accessible', limit: 2, offset: 2 }],
  },
  class_slots: {
    usual: [{ class: 'shop::order' }, { class: 'rush-order', package: 'SHOP' }],
    empty: [{ class: 'integer' }, { class: 'shop:price' }],
    'over-long': [{ class: 'shop::rush-order', limit: 1 }],
  },
  class_hierarchy: {
    usual: [{ class: 'shop::order' }, { class: 'rush-order', package: 'SHOP', direction: 'up' }],
    empty: [{ class: 'shop::rush-order', direction: 'down' }, { class: 'shop:price' }],
    'over-long': [{ class: 'shop::order', limit: 1, offset: 1 }],
  },
  macroexpand_form: {
    usual: [
      { form: '(with-price (cents :lamp) (list cents))', package: 'SHOP' },
      { form: '(shop::with-price (c :lamp) (when c 1))', mode: 'all' },
      { form: '(shop::with-price (c :lamp) (when c 1))', mode: 'one' },
    ],
    empty: [{ form: '(shop:price :lamp)' }],
    'over-long': [{ form: "(when t '#.(make-list 5000))" }],
    bad: [{ form: '(defclass 5 () ())' }],
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

      { form: '(loop)', timeout: 0.3 },
    ],
  },
  compile_form: {
    usual: [
      { form: '(defun half (x) (/ x 2))' },
      { form: '(defmacro thrice (x) `(list ,x ,x ,x))\n(defun use (y) (thrice (missing y z)))' },
      { form: '(defun total (prices) (price :lamp) (length 5))', package: 'SHOP' },
    ],
    'over-long': [{ form: '(defun many () (list a b c d e f g h i j k l m n o p q r s t u v w x y z))' }],
    bad: [{ form: '(let ((x)) (when) x)' }],
  },
  get_last_error: {
    usual: [{}, { index: 1 }],
    empty: [{ index: 10 }],
    'over-long': [{ index: 1, frame: 0 }],
    bad: [{ frame: 100 }],
  },
  get_repl_history: {
    usual: [{ containing: 'twice' }, { containing: '(car 1)' }],
    empty: [{ containing: 'never evaluated' }],
    'over-long': [
      { limit: 1, containing: '(list 2' },
      { limit: 1, offset: 1 },
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
  read_definition: {
    usual: [{ name: 'shop:price' }, { name: 'shop:item (setf shop:item-price)' }],
    empty: [{ name: 'shop::no-such' }],
    'over-long': [{ path: 'shop.lisp', limit: 2 }],
    bad: [{}, { name: 'shop:price', path: 'shop.lisp' }, { path: 'shoe.lisp' }],
  },
  compare_image: {
    usual: [{ path: 'shop.lisp' }, { package: 'SHOP' }],
    empty: [{ system: 'shop' }],
    bad: [
      {},
      { path: 'shop.lisp', package: 'SHOP' },
      { path: 'shoe.lisp' },
      { path: 'shop.asd' },
      { system: 'shoe' },
      { package: 'NOWHERE' },
    ],
  },
};
