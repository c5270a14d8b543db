// Lists what damages an image that lives: functions and variables that reading, evaluating and printing need, taken away.
// Besides, what ends an image when it is evaluated, as it must not be again when the image is built again.

/** One damage, done by evaluating FORM. */
export interface Damage {
  name: string;
  form: string;
  /** Whether the short run has it too. */
  short?: true;
}

/** What a function is made to do. */
const DOING = { loops: '(loop)', fails: '(error "gone")', 'gives nothing': 'nil' };

/** Functions that calls need, in the reader, the evaluator, the printer and below all of them. */
const FUNCTIONS =
  'cl:read cl:read-from-string cl:peek-char cl:file-position cl:make-string-input-stream cl:macroexpand cl:macro-function cl:compile cl:prin1 cl:princ cl:write-string cl:find-package cl:find-symbol cl:intern cl:symbol-value cl:package-name sb-impl::%simple-eval sb-impl::output-object sb-kernel:make-lisp-obj'.split(
    ' ',
  );

/** Variables by which is read and printed, and values that none of them takes. */
const VARIABLES =
  '*readtable* *read-base* *print-base* *print-case* *print-pprint-dispatch* *print-length* *package*'.split(
    ' ',
  );
const VALUES = { 'a table': '(make-hash-table)', 'a symbol': ':none' };

/** What is no damage but what the form asked for: values are others, and all works. */
const ASKED = 'cl:macroexpand gives nothing';

const redefined = FUNCTIONS.flatMap((name) =>
  Object.entries(DOING).map(([how, does]) => ({
    name: `${name} ${how}`,
    form: `(sb-ext:without-package-locks (setf (fdefinition '${name}) (lambda (&rest all) (declare (ignore all)) ${does})))`,
  })),
);

const mistyped = VARIABLES.flatMap((name) =>
  Object.entries(VALUES).map(([what, value]) => ({
    name: `${name} is ${what}`,
    form: `(sb-kernel:%set-symbol-value '${name} ${value})`,
  })),
);

const settings: Damage[] = [
  { name: '(exit)', form: '(exit)', short: true },
  { name: 'a loop', form: '(loop)', short: true },
  {
    name: 'a pretty printer for all that loops',
    form: "(progn (set-pprint-dispatch 't (lambda (s o) (declare (ignore s o)) (loop)) 10) nil)",
    short: true,
  },
  { name: 'a readtable of :preserve', form: '(setf (readtable-case *readtable*) :preserve)', short: true },
  {
    name: 'a blank that never ends',
    form: '(set-macro-character #\\space (lambda (s c) (declare (ignore s c)) (loop)))',
    short: true,
  },
  {
    name: 'features that go round',
    form: '(setf *features* (let ((l (list :a))) (setf (cdr l) l) l))',
  },
];

const SHORT = [
  'cl:macroexpand fails',
  'cl:peek-char gives nothing',
  'cl:prin1 gives nothing',
  '*print-base* is a symbol',
];

export const DAMAGES: readonly Damage[] = [
  ...settings,
  ...redefined.filter(({ name }) => name !== ASKED),
  ...mistyped,
].map((each) => (SHORT.includes(each.name) ? { ...each, short: true as const } : each));
