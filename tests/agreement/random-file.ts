// Files of random definitions, and what an image has of their package, read without the server's own records.

import fc from 'fast-check';

/** A definition in a file: its text, and which classes must stand before it. */
interface Piece {
  text: string;
  classes?: number[];
}

const SMALL = fc.nat({ max: 2 });
const VALUE = fc.nat({ max: 3 });

function piece(...build: [fc.Arbitrary<number>, fc.Arbitrary<number>, (n: number, v: number) => Piece]) {
  const [names, values, make] = build;
  return fc.tuple(names, values).map(([n, v]) => make(n, v));
}

const plain = (make: (n: number, v: number) => string) =>
  piece(SMALL, VALUE, (n, v) => ({ text: make(n, v) }));

/** Specializers: a class of the file, or one of the system. */
const SPECIALIZERS = ['k0', 'k1', 'k2', 'integer', '(eql 7)', 'string'];
const specialized = (make: (n: number, specializer: string) => string) =>
  piece(SMALL, fc.nat({ max: SPECIALIZERS.length - 1 }), (n, v) => ({
    text: make(n, SPECIALIZERS[v] ?? 'integer'),
    ...(v < 3 && { classes: [v] }),
  }));

const PIECES: fc.Arbitrary<Piece>[] = [
  plain((n, v) => `(defun f${n} () ${v})`),
  plain((n, v) => `(defun (setf f${n}) (new) (list new ${v}))`),
  plain((n, v) => `(let ((count ${v})) (defun counted${n} () (incf count)))`),
  plain((n, v) => `(defmacro m${n} () ${v})`),
  plain((n) => `(define-compiler-macro f${n} (&whole form) form)`),
  plain((n, v) => `(defvar *v${n}* ${v})`),
  plain((n, v) => `(sb-ext:defglobal **g${n}** ${v} "Doc.")`),
  plain((n, v) => `(defparameter *p${n}* ${v})`),
  plain((n) => `(defconstant +c${n}+ ${n})`),
  plain((n, v) => `(define-symbol-macro y${n} ${v})`),
  plain((n, v) => `(deftype t${n} () '(integer 0 ${v}))`),
  plain((n) => `(define-condition e${n} (error) ((what :initarg :what :reader e${n}-what)))`),
  plain((n) => `(defstruct s${n} a (b 1))`),
  plain((n) => `(defstruct (l${n} (:type list)) a)`),
  plain((n) => `(defsetf place${n} set-place${n})`),
  plain((n) => `(define-setf-expander far${n} (x) (values nil nil '(s) x x))`),
  plain((n, v) => `(declaim (inline i${n})) (defun i${n} () ${v})`),
  plain((n, v) => `(defgeneric g${n} (x) (:documentation "${v}"))`),
  plain((n, v) => `(defgeneric h${n} (x) (:method ((x integer)) ${v}))`),
  plain(
    (n, v) => `(eval-when (:compile-toplevel :load-toplevel :execute) (defun at-both-times${n} () ${v}))`,
  ),
  plain((n, v) => `#+sbcl (defun here${n} () ${v}) #-sbcl (defun elsewhere${n} () ${v})`),
  plain((n, v) => `(when (evenp ${v}) (setf (fdefinition 'computed${n}) (lambda () ${v})))`),
  plain((n) => `(setf (fdefinition 'alias${n}) #'car)`),
  plain((n, v) => `(define-both both${n} ${v})`),
  specialized((n, specializer) => `(defmethod g${n} ((x ${specializer})) x)`),
  specialized((n, specializer) => `(defmethod g${n} :around ((x ${specializer})) (call-next-method))`),
  specialized((n, specializer) => `(defmethod (setf q${n}) (new (x ${specializer})) new)`),
  piece(SMALL, fc.constant(0), (n) => ({
    text: `(defmethod print-object ((x k${n}) stream) (write-string "k" stream))`,
    classes: [n],
  })),
];

const SLOTS = [
  '(a :accessor ka)',
  '(b :reader kb :initform 1)',
  '(c :writer set-kc)',
  '(d :accessor kd :type integer)',
];

/** The classes k0, k1 and k2, each perhaps, with some of the slots and perhaps below the one before. */
const CLASSES = fc.tuple(
  ...[0, 1, 2].map((n) =>
    fc
      .record({ present: fc.boolean(), below: fc.boolean(), slots: fc.subarray(SLOTS) })
      .map((made) => ({ n, ...made })),
  ),
);

/** Random files of the package RT, with their exports. Each defines nothing twice. */
export const RANDOM_FILE: fc.Arbitrary<string> = fc
  .record({
    exports: fc.subarray(['f0', 'f1', 'ka', '*v0*', 'both0']),
    classes: CLASSES,
    pieces: fc.array(fc.oneof(...PIECES), { maxLength: 14 }),
  })
  .map(({ exports, classes, pieces }) => {
    const present = new Set<number>();
    const lines = classes.flatMap(({ n, present: is, below, slots }) => {
      if (!is) return [];
      const supers = below && present.has(n - 1) ? `k${n - 1}` : '';
      present.add(n);
      return [`(defclass k${n} (${supers}) (${slots.join(' ')}))`];
    });
    const usable = pieces.filter(({ classes: needed = [] }) => needed.every((n) => present.has(n)));
    // What differs only in numbers and strings defines the same.
    const once = new Map(
      usable.map(({ text }) => [text.replace(/ \d+( "Doc\.")?\)| "\d+"|\d\)+$/g, ''), text]),
    );
    return [
      `(defpackage "RT" (:use "CL") (:export ${exports.map((name) => `"${name.toUpperCase()}"`).join(' ')}))`,
      '(in-package "RT")',
      '(defmacro define-both (name value) `(progn (defun ,name () ,value) (defvar ,(intern (format nil "*~A*" name)) ,value)))',
      ...lines,
      ...once.values(),
      '',
    ].join('\n');
  });

/** A form whose value is a list of strings: all that the names of the package RT, and methods on its classes, are. */
export const EVERYTHING = `(let ((all '()))
  (flet ((add (&rest parts) (push (format nil "~{~A~^ ~}" parts) all)))
    (labels ((specializer (s) (if (typep s 'class) (class-name s) (list 'eql (sb-mop:eql-specializer-object s))))
             (methods (f)
               (dolist (m (sb-mop:generic-function-methods f))
                 (when (or (not (eq (sb-mop:generic-function-name f) 'print-object))
                           (find "RT" (sb-mop:method-specializers m)
                                 :key (lambda (s) (ignore-errors (package-name (symbol-package (class-name s)))))
                                 :test #'equal))
                   (add "method" (sb-mop:generic-function-name f) (method-qualifiers m)
                        (mapcar #'specializer (sb-mop:method-specializers m))))))
             (callable (name)
               (when (fboundp name)
                 (cond ((and (symbolp name) (macro-function name)) (add "macro" name))
                       ((typep (fdefinition name) 'generic-function)
                        (add "generic function" name)
                        (methods (fdefinition name)))
                       (t (add "function" name))))))
      (methods #'print-object)
      (do-symbols (s "RT")
        (when (eq (symbol-package s) (find-package "RT"))
          (callable s)
          (callable (list 'setf s))
          (when (compiler-macro-function s) (add "compiler macro" s))
          (when (find-class s nil) (add "class" s))
          (when (sb-int:info :typed-structure :info s) (add "list structure" s))
          (when (eq :defined (sb-int:info :type :kind s)) (add "type" s))
          (when (sb-int:info :setf :expander s) (add "setf expander" s))
          (unless (eq :unknown (sb-int:info :variable :kind s)) (add (sb-int:info :variable :kind s) s))
          (when (boundp s) (add "bound" s (symbol-value s)))
          (when (eq :external (nth-value 1 (find-symbol (symbol-name s) "RT"))) (add "export" s))))))
  (format nil "~{~A~%~}" (sort (remove-duplicates all :test #'string=) #'string<)))`;
