;;;; Compiles forms as COMPILE-FILE compiles top-level forms, without running them. COMPILE-FILE
;;;; needs a file, so it compiles the same file for each form. The file contains the single
;;;; character !, and a reader macro for this character returns the form.

(in-package "LIVE-LISP.EVALUATE")

(defparameter *compiler-variables* (remove nil (list '*package* '*readtable* +policy+))
  "A list of the names of the variables that COMPILE-FILE binds and that one form of a file can set
for later forms.")

(defun compiler-values ()
  "Return a list of the current values of *COMPILER-VARIABLES*."
  (mapcar #'symbol-value *compiler-variables*))

(defun readtable-for-form (form)
  "Return a readtable in which the character ! is read as FORM. After that, the user's readtable is
current again."
  (let ((users *readtable*) (readtable (copy-readtable nil)))
    (set-macro-character #\! (lambda (stream character)
                               (declare (ignore stream character))
                               (setf *readtable* users)
                               form)
                         nil readtable)
    readtable))

(defun compile-one-form (form file)
  "Compile FORM by compiling FILE, which contains only the character ! (see the top of this file).
Return a list of the values that *COMPILER-VARIABLES* have at the end."
  (let* ((after (compiler-values))
         (note `(eval-when (:compile-toplevel)
                  (funcall ,(lambda () (setf after (compiler-values))))))
         (fasl (make-pathname :type "fasl" :defaults file))
         (*readtable* (readtable-for-form `(progn ,form ,note))))
    (call-user-code (lambda () (compile-file file :output-file fasl)))
    after))

(defun compile-text (text file)
  "Read the forms of TEXT one by one with a copy of the user's readtable, and compile each by
COMPILE-ONE-FORM with FILE, a result of MAKE-FORM-FILE. Return a plist of members for the answer:
the number of the forms, or the reason why a form cannot be read."
  (let* ((stream (make-string-input-stream text))
         (values (let ((*readtable* (copy-readtable))) (compiler-values)))
         (unreadable
           (catching-unreadable
             (loop for start = (skip-to-form stream)
                   while start
                   do (incf *form-number*)
                      (progv *compiler-variables* values
                        (let ((form (read-form stream text start)))
                          (when (eq form stream) (decf *form-number*) (return))
                          (note-form text start stream)
                          (remember-symbols form)
                          (setf values (compile-one-form form file))))))))
    (prog1 (list "unreadable" unreadable "forms" (and (not unreadable) *form-number*))
      ;; A warning at the end of the compilation unit does not belong to a certain form.
      (setf *form-number* nil))))

(defun make-form-file (file)
  "Write the file FILE, which contains only the character !, and return its truename. To compile a
form, the backend compiles this file. It uses a readtable with which the reader returns the form
when it reads the ! (READTABLE-FOR-FORM)."
  (with-open-file (out file :direction :output :if-exists :supersede)
    (write-char #\! out))
  (truename file))

(define-shape compile-data (forms-data)
  "The answer to a request to compile forms."
  (forms integer :optional
   "How many forms were compiled; absent when the compilation stopped before the end."))

(define-operation ("compile-forms" :members t :holds t :gives compile-data)
    (code package
     (file string
      "The native name of a file to make, with the type lisp. The fasl is made beside it."))
  "Compile the forms of CODE as if they were in a file, and undo their definitions."
  (let* ((package (and package (named-package package)))
         (file (sb-ext:parse-native-namestring file))
         (*form-file* nil)
         (*form-number* 0)
         (number nil)
         (members (call-undoing-definitions
                   (lambda ()
                     (call-as-job-part
                      package
                      (lambda ()
                        (call-in-folder-of
                         file
                         (lambda ()
                           (setf *form-file* (make-form-file file))
                           (let ((*compile-verbose* nil) (*compile-print* nil)
                                 (*macroexpand-hook* #'expand-remembering))
                             (unwind-protect (compile-text code *form-file*)
                               (setf number *form-number*))))))
                      :together t)))))
    (list* "formNumber" number members)))

(defun compile-without-loading (source fasl)
  "Compile the file SOURCE into the file FASL. Return a plist of JSON members with the member
\"value\", a JSON object of the shape LOADED-FILE. Do not evaluate forms of SOURCE that load
libraries, as LOAD would."
  (load-packages-of source)
  (let ((*macroexpand-hook* #'expand-remembering) (*readtable* (readtable-for source)))
    (multiple-value-bind (made warnings failed)
        (call-user-code (lambda () (compile-file source :output-file fasl)))
      (declare (ignore warnings))
      (list "value" (object "file" (sb-ext:native-namestring *form-file*)
                            "failed" (and made failed t)
                            "notLoaded" (null made))))))

(define-operation ("check-file" :members t :gives load-file-data) (file fasl)
  "Compile FILE to the file FASL, but do not load FASL. Then undo the definitions that the
compilation made in the image, such as macros."
  (let* ((source (sb-ext:parse-native-namestring file))
         (fasl (sb-ext:parse-native-namestring fasl))
         (*form-file* (truename source)))
    (flet ((compile-it ()
             (call-with-quiet-compiler
              (lambda ()
                (call-in-folder-of fasl (lambda () (compile-without-loading source fasl)))))))
      (call-undoing-definitions (lambda () (call-as-job-part nil #'compile-it :together t))))))
