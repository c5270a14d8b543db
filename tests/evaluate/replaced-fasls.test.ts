// What load_system and loads by code do when another image replaces the compiled files of a library.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Session, startSession, temporaryFolder, warmCache } from '../harness.ts';

const FILES = 30;
const ROUNDS = 3;
const root = temporaryFolder();
const cache = temporaryFolder();
warmCache(cache.path);

/** Writes a system NAME with COUNT small files: the shorter one takes, the more often another image replaces it. */
function system(name: string, count: number): void {
  const parts = Array.from({ length: count }, (_, index) => `${name}-${index}`);
  mkdirSync(join(root.path, name));
  for (const part of parts) root.put(join(name, `${part}.lisp`), `(defun ${part} () :${part})\n`);
  const components = parts.map((part) => `(:file "${part}")`).join(' ');
  root.put(join(name, `${name}.asd`), `(defsystem "${name}" :serial t :components (${components}))\n`);
}

const SHARED = Array.from({ length: ROUNDS }, (_, round) => `shared-${round}`);
for (const name of SHARED) system(name, FILES);
for (const moment of ['named', 'loaded']) {
  for (const way of ['system', 'form', 'never']) system(`${moment}-${way}`, 1);
}

/** What SBCL says of a compiled file that is not there. */
const MISSED = {
  named:
    /^System named-never was not loaded to its end\.\n\nError: Failed to find the TRUENAME of \S+named-never-0\.fasl:/,
  loaded:
    /^System loaded-never was not loaded to its end\.\n\nError: Couldn't load .*\n?.*loaded-never-0\.fasl/,
};

let sessions: Session[];
beforeAll(async () => {
  const options = { args: ['--root', root.path], env: { XDG_CACHE_HOME: cache.path } };
  sessions = await Promise.all([startSession(options), startSession(options)]);
  // Both have ASDF and its list of systems then, so they begin to compile at the same time.
  await Promise.all(sessions.map((session) => session.eval('(asdf:find-system "shared-0")')));
});
afterAll(async () => {
  await Promise.all(sessions.map((session) => session.close()));
  root.remove();
  cache.remove();
});

test.each(SHARED)('two images load %s at once, which neither has compiled', async (name) => {
  const answers = await Promise.all(sessions.map((session) => session.text('load_system', { system: name })));
  expect(answers).toEqual([`Loaded system ${name}`, `Loaded system ${name}`]);
  const last = `(${name}-${FILES - 1})`;
  expect(await Promise.all(sessions.map((session) => session.eval(last)))).toEqual(
    sessions.map(() => `:${name.toUpperCase()}-${FILES - 1}`),
  );
});

/** Code that puts FASL away under the name of one that is compiled, and back a moment later. */
const REPLACES = `(let ((new (make-pathname :name (format nil "~A-tmpABC" (pathname-name fasl)) :defaults fasl)))
  (rename-file fasl new)
  (sb-thread:make-thread (lambda () (sleep 0.3) (rename-file new fasl))))`;

/** When ASDF has given a compiled file its name, and when it is about to load it. */
const MOMENTS = {
  named: {
    fn: 'uiop:rename-file-overwriting-target',
    fasl: '(second arguments)',
    order: 'multiple-value-prog1',
  },
  loaded: { fn: 'uiop:load*', fasl: '(first arguments)', order: 'progn' },
};

/** Has CODE run in SESSION once at MOMENT of the system NAME, as if another image did that. FASL is its compiled file. */
async function meanwhile(
  session: Session,
  name: string,
  moment: keyof typeof MOMENTS,
  code: string,
): Promise<void> {
  const { fn, fasl, order } = MOMENTS[moment];
  const act = `(let ((fasl (pathname ${fasl})))
    (when (equal (pathname-name fasl) "${name}-0") (sb-int:unencapsulate '${fn} 'other-image) ${code}))`;
  const call = '(apply function arguments)';
  const steps = order === 'progn' ? `${act} ${call}` : `${call} ${act}`;
  const form = `(sb-int:encapsulate '${fn} 'other-image (lambda (function &rest arguments) (${order} ${steps})))`;
  expect(await session.eval(`(progn ${form} t)`)).toBe('T');
}

describe.each(['named', 'loaded'] as const)('a compiled file that is away when it has to be %s', (moment) => {
  test('is waited for by load_system', async () => {
    const [session] = sessions as [Session];
    await meanwhile(session, `${moment}-system`, moment, REPLACES);
    expect(await session.text('load_system', { system: `${moment}-system` })).toBe(
      `Loaded system ${moment}-system`,
    );
    expect(await session.eval(`(${moment}-system-0)`)).toBe(`:${moment.toUpperCase()}-SYSTEM-0`);
  });

  test('is waited for by a form', async () => {
    const [session] = sessions as [Session];
    await meanwhile(session, `${moment}-form`, moment, REPLACES);
    expect(await session.eval(`(progn (asdf:load-system "${moment}-form") (${moment}-form-0))`)).toBe(
      `:${moment.toUpperCase()}-FORM-0`,
    );
  });

  test('is missed at once when nobody is about to name it', async () => {
    const [session] = sessions as [Session];
    await meanwhile(session, `${moment}-never`, moment, '(delete-file fasl)');
    expect(await session.text('load_system', { system: `${moment}-never` })).toMatch(MISSED[moment]);
  });
});

test('a FILE-ERROR about a text that is no file name is no missing compiled file', async () => {
  const [session] = sessions as [Session];
  system('no-text', 1);
  root.put('no-text/no-text-0.lisp', `(defun fails () (error 'file-error :pathname "a[b"))\n(fails)\n`);
  const text = await session.text('load_system', { system: 'no-text' });
  expect(text).toContain(
    'System no-text was not loaded to its end.\n\nError: error on file "a[b"\nType: COMMON-LISP::FILE-ERROR\n',
  );
  // An error in the backend's look at this FILE-ERROR would add its frames above.
  expect(text).toMatch(/\nFrames:\n {2}0: \(\S*FAILS\)/);
});

test('a file that is removed while SBCL looks at it is looked for again', async () => {
  const [session] = sessions as [Session];
  const file = join(root.path, 'removed.fasl');
  // SBCL 2.2.9 signals an error in some of a hundred looks. Newer ones do not, and all looks end.
  const form = `(let* ((other (format nil "~A-other" "${file}"))
        (looking t)
        (thread (sb-thread:make-thread
                 (lambda ()
                   (loop while looking
                         do (with-open-file (stream other :direction :output :if-exists :supersede) (print 1 stream))
                            (sb-unix:unix-rename other "${file}")
                            (sb-unix:unix-unlink "${file}"))))))
   (unwind-protect
        (restart-case (loop with end = (+ (get-internal-real-time) (* 3 internal-time-units-per-second))
                            while (< (get-internal-real-time) end)
                            do (probe-file "${file}"))
          (asdf:retry () nil))
     (setf looking nil)
     (sb-thread:join-thread thread)))`;
  expect(await session.eval(form)).toBe('NIL');
});
