;;;; The operations on held errors. A held error is one at which a thread is stopped. Most
;;;; operations run in a new job, which START-JOB starts. But debug-look, debug-eval, debug-fix and
;;;; debug-go act on a stopped thread, so the option :STARTER of each names another function
;;;; (actions.lisp): LOOK-IN-THREAD makes the stopped thread run the body of the operation, and
;;;; GO-ON-IN-THREAD makes it continue. In a body, *HELD* is the HELD structure of the error
;;;; (held.lisp). EVALUATE-REPORTING, which records evaluated forms in the journal, is in
;;;; journal/journal.lisp.

(in-package "LIVE-LISP.DEBUG")

(define-shape held-row ()
  "A row of the list of held errors."
  (error integer) (seconds integer) (thread string :optional)
  (held-by string :optional
   "The server that holds the error, if it is another server of the same image.")
  (type string))

(define-operation ("debug-list" :gives (object (held (list held-row) :optional))) ()
  "Return a JSON object that lists the held errors. For an error that another server of the same
image holds, the row names that server."
  (object "held" (loop for held in (reverse **held**)
                       collect (object "error" (shown-held-number held)
                                       "seconds" (held-seconds held)
                                       "thread" (and (null (held-job held))
                                                     (short-thread-name (held-thread held)))
                                       "heldBy" (and (not (eq *session* (held-session held)))
                                                     (holder-text held))
                                       "type" (class-text (class-of (held-condition held)))))))

(defun no-frame (number)
  "Return a plist of JSON members which say that the error of this thread has no frame with
NUMBER."
  (list "value" (object "noFrame" number "frames" (length (held-frames *held*)))))

(defun asked-frame (number)
  "Return the frame with NUMBER of the error at which this thread is stopped, or NIL if there is
none. If NUMBER is NIL, return the newest frame of the program."
  (if number (frame-numbered *held* number) (default-frame *held*)))

(defun frame-package (frame)
  "Return the package in which forms for FRAME are read: the home package of the name of its
function. If this package is LIVE-LISP or belongs to SBCL, return the current package."
  (let* ((root (and frame (root-name (frame-name frame))))
         (package (and root (symbol-package root))))
    (if (and package (not (core-package-p package)))
        package
        (usable-package *package*))))

(defun frame-parameters (frame)
  "Return an alist from parameters of the function of FRAME, symbols, to their arguments. Include
only required and optional parameters, and only those whose variable has no value in FRAME any more.
Leave out a parameter if the code did not keep its argument."
  (nil-if-unknown
    (let ((valid (loop for variable in (frame-variables frame)
                       when (eq :valid (variable-validity variable (frame-place frame)))
                         collect (variable-symbol variable))))
      (loop for parameter in (remove '&optional (frame-lambda-list frame))
            for argument in (frame-arguments frame)
            until (member parameter lambda-list-keywords)
            unless (or (consp parameter) (member parameter valid) (not-kept-p argument))
              collect (cons parameter argument)))))

(defun locals-data (frame)
  "Return a list of JSON objects for the parameters and the other local variables of FRAME. If the
variable of a parameter no longer has a value, its object shows the argument of the call."
  (let ((parameters (frame-parameters frame)) (*shows-ids* t))
    (append (loop for (name . value) in parameters
                  collect (object "name" (symbol-name name) "value" (local-text value)
                                  "id" (object-id value)))
            (remove-if (lambda (local)
                         (find (json-member "name" local) parameters
                               :key (lambda (pair) (symbol-name (car pair)))
                               :test #'equal))
                       (frame-locals frame)))))

(defun frame-data (frame number)
  "Return a JSON object about FRAME, the frame with NUMBER of the error at which this thread is
stopped. It contains the local variables, and whether debug-go can make the call of FRAME again, or
the reason why not."
  (multiple-value-bind (again why) (frame-call-again frame)
    (object "frame" number
            "call" (frame-object (frame-text (frame-call frame)) (call-place frame))
            "locals" (locals-data frame)
            "package" (package-name (frame-package frame))
            "again" (and again t)
            "why" why)))

(define-shape debug-data (remarks)
  "The answer of the operations on a held error: debug-look, debug-eval, debug-fix and debug-go."
  (left boolean :optional
   "True when the evaluated code left the error by a non-local exit, and the stopped call continued.
   The other members are then the answer of that call.")
  (value (or debug-value lookup-failure) :optional)
  (values (list (list printed-value)) :optional "The printed values of each evaluated form.")
  (form-number integer :optional "Number of the form that was evaluated last.")
  (unreadable unreadable :optional)
  (replaced (list (object (name string) (method boolean :optional) (place place))) :optional
   "Definitions from files that the new definitions replaced."))

(define-operation ("debug-look" :members t :gives debug-data
                   :starter #'look-in-thread
                   :also (error))
    (frame)
  "Return the members of the answer that reported the held error. With FRAME, return this frame with
its local variables instead."
  (let ((found (frame-numbered *held* frame)))
    (cond ((null frame) (held-members *held* nil))
          (found (list "value" (frame-data found frame)))
          (t (no-frame frame)))))

(defun lost-variables (frame bound)
  "Return a list of the symbols that name variables or parameters of FRAME without a value. Leave
out symbols in the list BOUND, and symbols that a form cannot bind: uninterned symbols, those of
SBCL, and global variables."
  (let ((place (frame-place frame)) (lost '()) (left-out bound))
    (dolist (variable (frame-variables frame))
      (if (eq :valid (variable-validity variable place))
          (push (variable-symbol variable) left-out)
          (push (variable-symbol variable) lost)))
    (loop for symbol in (append lost (frame-lambda-list frame))
          when (and (symbolp symbol)
                    (symbol-package symbol)
                    (not (member symbol left-out))
                    (not (member symbol lambda-list-keywords))
                    (not (core-symbol-p symbol))
                    (member (known :variable :kind symbol) '(nil :unknown)))
            collect symbol)))

(defun fail-not-kept (symbol)
  "Signal an error about SYMBOL, a variable of a frame: its value was not kept."
  (error "SBCL has not kept the value of ~A at this point of the frame. To keep all values, ~
          compile the code with debug_level: 3 in eval_form or load_file."
         symbol))

(defun form-within (form frame)
  "Return a form that evaluates FORM with the parameters of FRAME bound. If FORM refers to a
variable of FRAME whose value was not kept, its evaluation signals an error."
  (let* ((parameters (frame-parameters frame))
         (lost (nil-if-unknown (remove-duplicates (lost-variables frame
                                                                  (mapcar #'car parameters))))))
    `(let ,(loop for (name . value) in parameters collect `(,name ',value))
       (declare (ignorable ,@(mapcar #'car parameters)))
       ,(if lost
            `(symbol-macrolet ,(loop for symbol in lost collect `(,symbol (fail-not-kept ',symbol)))
               ,form)
            form))))

(defun evaluate-within (form frame)
  "Evaluate FORM with the variables and parameters of FRAME. Return a list of its values."
  (multiple-value-list (evaluate-in-frame frame (form-within form frame))))

(defun shows-variable-p (form frame)
  "Return true if FORM contains a symbol that names a variable or parameter of FRAME. Such a form
can only be evaluated in FRAME."
  (shows-p form (nil-if-unknown (append (loop for variable in (frame-variables frame)
                                              collect (variable-symbol variable))
                                        (mapcar #'car (frame-parameters frame))
                                        (lost-variables frame '())))))

(defun evaluate-here (forms frame)
  "Evaluate FORMS, a list of (FORM TEXT) lists, in FRAME, or outside any frame if FRAME is NIL. TEXT
is a function that returns the source text of FORM. Return a list of the values of the last form.
Report the changes that forms make in the image to the server, except for forms that contain a
variable of FRAME."
  (let ((values '()))
    (loop for (form text) in forms
          do (setf values
                   (cond ((null frame) (evaluate-reporting form text #'identity))
                         ((shows-variable-p form frame) (evaluate-within form frame))
                         (t (let ((form form))
                              ;; FORM contains no variable of FRAME, so it can be evaluated again
                              ;; without FRAME, and its changes are reported. But it is to be
                              ;; evaluated in FRAME now. So pass EVALUATE-REPORTING a form that
                              ;; calls a function that does this.
                              (evaluate-reporting
                               `(values-list (funcall ,(lambda () (evaluate-within form frame))))
                               text #'identity))))))
    values))

(defun values-here (codes frame)
  "Evaluate the forms in each text of CODES, a list, with the variables of FRAME. Return a list with
one element for each text: a list of the values of its last form. If a text cannot be read, evaluate
nothing, and return NIL and a JSON object with the reason."
  (let ((forms (loop for code in codes
                     collect (multiple-value-bind (forms unreadable) (forms-with-texts code)
                               (when unreadable (return-from values-here (values '() unreadable)))
                               forms))))
    (loop for each in forms collect (call-user-code (lambda () (evaluate-here each frame))))))

(define-operation ("debug-eval" :members t :resumes t :gives debug-data
                   :starter #'look-in-thread
                   :also (error))
    (frame
     (codes (list string) "The texts of forms.")
     (package string :optional
      "The package in which the forms are read; by default that of the frame's function.")
     (keep boolean :optional
      "True to keep the values for the next debug-go, which passes them to a restart or returns them
      from a frame."))
  "Evaluate CODES with the variables of FRAME, or of the newest frame of the program."
  (let ((found (asked-frame frame)) (*remarks* (make-remarks)) (*value-budget* 10000))
    (if (and frame (null found))
        (no-frame frame)
        (let ((*package* (if package (named-package package) (frame-package found))))
          (multiple-value-bind (values unreadable)
              (call-collecting-warnings (lambda () (values-here codes found)))
            (when keep (setf (held-values *held*) values))
            (append (list "values" (mapcar #'printed-values values) "unreadable" unreadable)
                    (warning-members)))))))

;;; Evaluating new definitions while an error is held

(defun specializer-of (parameter)
  "Return the specializer of PARAMETER, an element of the lambda list of a method. Return NIL if it
names no class."
  (let ((name (if (consp parameter) (second parameter) t)))
    (cond ((symbolp name) (find-class name nil))
          ((and (eq (first name) 'eql) (constantp (second name)))
           (sb-mop:intern-eql-specializer (eval (second name)))))))

(defun defined-method (form)
  "Return the existing method that FORM, a DEFMETHOD, would replace, or NIL."
  ;; REST begins with the lambda list. The atoms before it are the qualifiers.
  (let* ((rest (member-if #'listp (cddr form)))
         (required (ldiff (first rest)
                          (member-if (lambda (parameter) (member parameter lambda-list-keywords))
                                     (first rest)))))
    (find-method (plain-definition (second form)) (ldiff (cddr form) rest)
                 (mapcar #'specializer-of required) nil)))

(defun replaced-sources (form)
  "Return a list of JSON objects with the source locations of the definitions that FORM, a
definition, would replace. For a DEFMETHOD form, the list has one element, which is NIL if the
location of the replaced method is unknown."
  (when (and (consp form) (consp (rest form)))
    (if (eq (first form) 'defmethod)
        (let ((source (introspect "FIND-DEFINITION-SOURCE" (defined-method form))))
          (list (and source (place-data source))))
        (function-sources (second form)))))

(defun replaced-data (code package)
  "CODE is the text of forms, to be read in PACKAGE. If evaluated, they can replace definitions that
came from files. Return a list of JSON objects for these definitions."
  (nil-if-program-fails
    (let ((*package* package))
      (loop for form in (forms-in code)
            for sources = (remove nil (nil-if-unknown (replaced-sources form)))
            when sources
              collect (object "name" (printing-plainly (print-safely 100 (second form)))
                              "method" (and (eq (first form) 'defmethod) t)
                              "place" (first sources))))))

(define-operation ("debug-fix" :members t :resumes t :gives debug-data
                   :starter #'look-in-thread
                   :also (error))
    (frame code
     (package string :optional
      "The package in which the forms are read; by default that of the frame's function."))
  "Evaluate CODE as the operation evaluate does, and report the definitions in files that it has
replaced."
  (let* ((package (if package (named-package package) (frame-package (asked-frame frame))))
         (replaced (replaced-data code package)))
    (list* "replaced" replaced (evaluate-code code package))))

(define-operation ("debug-go" :members t :resumes t :gives debug-data
                   :starter #'go-on-in-thread
                   :also (error frame
                          (restart string :optional "The name of a restart to invoke.")
                          (retry boolean :optional
                           "True to make the call of FRAME again or, without FRAME, to evaluate the
                           form again.")
                          (end boolean :optional
                           "True to end the call that the error has stopped.")))
    ()
  "Let the thread of a held error continue. GO-ON-IN-THREAD does that, so this body never runs."
  '())
