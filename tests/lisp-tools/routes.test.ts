// The example of a tool for one project: a running Hunchentoot application, and its routes.

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bad, LIBRARIES_AS_COMPILED, PROJECT } from '../harness.ts';
import { libraries } from '../libraries.ts';
import { sharedFolder, sharedSession } from '../shared.ts';

libraries('hunchentoot');

const root = sharedFolder();
const session = sharedSession({
  args: ['--root', root.path, '--init', join(PROJECT, 'examples', 'routes.lisp'), ...LIBRARIES_AS_COMPILED],
});

test('before the application is loaded, it says so', async () => {
  expect(await session.call('list_routes')).toEqual(
    bad('Hunchentoot is not loaded; load the application first, with load_system.'),
  );
});

test('S2.20 S4.14 it lists the routes of an application that answers requests, and keeps its level', async () => {
  await session.text('load_system', { system: 'hunchentoot' });
  await session.eval('(defpackage :shop (:use :cl :hunchentoot)) (in-package :shop)');
  const application = await session.call('eval_form', {
    form: `(progn
    (define-easy-handler (basket :uri "/basket") (item (amount :parameter-type 'integer :init-form 1))
      (format nil "~D of ~A" amount item))
    (define-easy-handler (stock :uri "/api/stock") () "Lamps: 2")
    (defun rejected (request) (declare (ignore request)) nil)
    (define-easy-handler (anything :uri 'rejected) () "none")
    (defun pages () "a page")
    (push (create-prefix-dispatcher "/pages/" 'pages) *dispatch-table*)
    (push (create-regex-dispatcher "^/v[0-9]/" 'pages) *dispatch-table*)
    (push 'own *dispatch-table*)
    (defun own (request) (declare (ignore request)) nil)
    (defvar *server* (start (make-instance 'easy-acceptor :port 0 :address "127.0.0.1"
                                           :access-log-destination nil :message-log-destination nil))))`,
  });
  expect(application.isError).toBe(false);
  const port = await session.eval('(values (acceptor-port *server*))');
  const page = await fetch(`http://127.0.0.1:${port}/basket?item=lamp&amount=3`);
  expect(await page.text()).toBe('3 of lamp');

  const { text, isError } = await session.call('list_routes');
  expect([isError, text.replace(/\s+/g, ' ')]).toEqual([
    false,
    '(("(decided by code)" "dispatcher" "SHOP::OWN" "") ("(decided by code)" "dispatcher" "SHOP::PAGES" "") ("/pages/" "dispatcher" "SHOP::PAGES" "") ("(when SHOP::REJECTED is true)" "easy handler" "SHOP::ANYTHING" "") ("/api/stock" "easy handler" "SHOP::STOCK" "") ("/basket" "easy handler" "SHOP::BASKET" "item amount"))',
  ]);
  expect(await session.text('list_routes', { containing: '/API/' })).toBe(
    '(("/api/stock" "easy handler" "SHOP::STOCK" ""))',
  );
  expect(
    await session.eval(`(mapcar #'third (live-lisp:call-tool "list_routes" :containing "/pages"))`),
  ).toBe('("SHOP::PAGES")');
  const { tools } = await session.client.listTools();
  expect(tools.find(({ name }) => name === 'list_routes')?.annotations?.readOnlyHint).toBe(true);
  await session.eval('(stop *server*)');
});
