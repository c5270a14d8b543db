// Decides which calls of each tool are frozen: the usual, the empty, the over-long and the bad case.

import { DEBUGGING } from './debugging.ts';

export const CASES = ['usual', 'empty', 'over-long', 'bad'] as const;
export type Calls = Record<(typeof CASES)[number], Record<string, unknown>[]>;

/** Those of the tools for code and the image. */
export const IMAGE_CALLS: Record<string, Calls> = {
  load_file: {
    usual: [{ path: 'shop.lisp' }, { path: 'shop.lisp', check: true }],
    empty: [{ path: 'nothing.lisp' }],
    'over-long': [{ path: 'noisy.lisp' }],
    bad: [{}, { path: 'no-such-file.lisp' }, { path: 'broken.lisp' }, { path: 7 }, { path: '.' }],
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
    bad: [
      {},
      { pattern: 5 },
      { pattern: 'x', package: 'NOWHERE' },
      { pattern: 'x', type: 'bogus' },
      { pattern: 'x', limit: 0 },
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
    bad: [
      {},
      { name: 'nonexistent' },
      { name: 'price', package: 'NOWHERE' },
      { name: ['price'] },
      { package: 'nowhere', unused: true },
      { names: [] },
    ],
  },
  impact_of_change: {
    usual: [
      { name: 'shop:price', lambda_list: '(thing count)' },
      { name: 'shop:total', definition: '(defmethod total (order unit))' },
      { name: 'shop::order', definition: '(defclass order () ((lines :accessor order-lines)))' },
    ],
    empty: [{ name: 'shop::idle', lambda_list: '(thing)' }],
    'over-long': [{ name: 'shop:price', lambda_list: '()', limit: 1 }],
    bad: [
      {},
      { name: 'nonexistent' },
      { name: 'shop:price', lambda_list: '(' },
      { name: 'shop:price', limit: 0 },
    ],
  },
  rename_symbol: {
    usual: [{ name: 'shop::order', to: 'purchase', dry_run: true }],
    empty: [{ name: 'shop:price', to: 'price' }],
    'over-long': [{ name: 'shop:price', to: '|A price that is long for a name|', dry_run: true }],
    bad: [
      {},
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
    bad: [{}, { symbol: 'nonexistent' }, { symbol: 'price', package: 'NOWHERE' }, { symbol: false }],
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
    bad: [{}, { symbol: 'nonexistent' }, { symbol: 'price', package: 'NOWHERE' }, { symbol: 7 }],
  },
  who_references: {
    usual: [{ name: 'shop:*currency*' }, { name: '*currency*', package: 'SHOP', sites: true }],
    empty: [{ name: 'shop::*long*' }, { name: 'shop:price' }],
    'over-long': [{ name: 'shop:*currency*', limit: 1 }],
    bad: [{}, { name: 'nonexistent' }, { name: '*currency*', package: 'NOWHERE' }, { name: true }],
  },
  list_package_symbols: {
    usual: [{ package: 'shop' }, { package: 'shop', access: 'internal', type: 'function' }],
    empty: [{ package: 'shop', type: 'class' }],
    'over-long': [{ package: 'shop', access: 'accessible', limit: 2, offset: 2 }],
    bad: [
      {},
      { package: 'NOWHERE' },
      { package: 'shop', type: 'bogus' },
      { package: 'shop', access: 'all' },
      { package: 1 },
    ],
  },
  class_slots: {
    usual: [{ class: 'shop::order' }, { class: 'rush-order', package: 'SHOP' }],
    empty: [{ class: 'integer' }, { class: 'shop:price' }],
    'over-long': [{ class: 'shop::rush-order', limit: 1 }],
    bad: [{}, { class: 'nonexistent' }, { class: 'order', package: 'NOWHERE' }, { class: [] }],
  },
  class_hierarchy: {
    usual: [{ class: 'shop::order' }, { class: 'rush-order', package: 'SHOP', direction: 'up' }],
    empty: [{ class: 'shop::rush-order', direction: 'down' }, { class: 'shop:price' }],
    'over-long': [{ class: 'shop::order', limit: 1, offset: 1 }],
    bad: [
      {},
      { class: 'nonexistent' },
      { class: 'shop::order', direction: 'left' },
      { class: 'shop::order', depth: 0 },
    ],
  },
  macroexpand_form: {
    usual: [
      { form: '(with-price (cents :lamp) (list cents))', package: 'SHOP' },
      { form: '(shop::with-price (c :lamp) (when c 1))', mode: 'all' },
      { form: '(shop::with-price (c :lamp) (when c 1))', mode: 'one' },
    ],
    empty: [{ form: '' }, { form: '(shop:price :lamp)' }],
    'over-long': [{ form: "(when t '#.(make-list 5000))" }],
    bad: [
      {},
      { form: '(when' },
      { form: '(defclass 5 () ())' },
      { form: '(when t) (when t)' },
      { form: '(when t)', package: 'NOWHERE' },
      { form: '(when t)', mode: 'both' },
    ],
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
      {},
      { form: '(car 1)' },
      { form: '(shop:price)' },
      { form: '(list 1)\n(list 2' },
      { form: '(nowhere:thing)' },
      { form: '1', package: 'NOWHERE' },
      { form: '1', timeout: 'soon' },
      { form: '(loop)', timeout: 0.3 },
    ],
  },
  compile_form: {
    usual: [
      { form: '(defun half (x) (/ x 2))' },
      { form: '(defmacro thrice (x) `(list ,x ,x ,x))\n(defun use (y) (thrice (missing y z)))' },
      { form: '(defun total (prices) (price :lamp) (length 5))', package: 'SHOP' },
    ],
    empty: [{ form: '' }],
    'over-long': [{ form: '(defun many () (list a b c d e f g h i j k l m n o p q r s t u v w x y z))' }],
    bad: [
      {},
      { form: '(list 1)\n(list 2' },
      { form: '(let ((x)) (when) x)' },
      { form: '1 (eval-when (:compile-toplevel) (error "No."))' },
      { form: '1', package: 'NOWHERE' },
    ],
  },
  get_last_error: {
    usual: [{}, { index: 1 }],
    empty: [{ index: 10 }],
    'over-long': [{ index: 1, frame: 0 }],
    bad: [{ index: -1 }, { index: 'last' }, { frame: 100 }],
  },
  get_repl_history: {
    usual: [{ containing: 'twice' }, { containing: '(car 1)' }],
    empty: [{ containing: 'never evaluated' }],
    'over-long': [
      { limit: 1, containing: '(list 2' },
      { limit: 1, offset: 1 },
    ],
    bad: [{ limit: 0 }, { containing: 5 }],
  },
  load_system: {
    usual: [{ system: 'shop' }],
    empty: [{ system: 'shop/nothing' }, { system: 'shop' }],
    'over-long': [{ system: 'shop/noisy' }],
    bad: [{}, { system: 'shoe' }, { system: 'shop', force: 'yes' }],
  },
  run_tests: {
    usual: [{ system: 'shop/tests' }, { failed: true }, { test: 'lamps' }],
    empty: [{ system: 'shop/untested' }, { system: 'shop/own' }],
    'over-long': [{ package: 'SHOP-TESTS', limit: 1 }],
    bad: [
      { system: 'shoe' },
      { test: 'lampp' },
      { package: 'NOWHERE' },
      { test: 'lamps', failed: true },
      { seed: -1 },
    ],
  },
  read_definition: {
    usual: [{ name: 'shop:price' }, { name: 'shop:item (setf shop:item-price)' }],
    empty: [{ name: 'shop::no-such' }],
    'over-long': [{ path: 'shop.lisp', limit: 2 }],
    bad: [{}, { name: 'shop:price', path: 'shop.lisp' }, { path: 'shoe.lisp' }, { name: 7 }],
  },
  compare_image: {
    usual: [{ path: 'shop.lisp' }, { package: 'SHOP' }],
    empty: [{ system: 'shop' }],
    'over-long': [],
    bad: [
      {},
      { path: 'shop.lisp', package: 'SHOP' },
      { path: 'shoe.lisp' },
      { path: 'shop.asd' },
      { system: 'shoe' },
      { package: 'NOWHERE' },
      { path: 7 },
    ],
  },
};
