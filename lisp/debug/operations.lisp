;;;; The operations on held errors.

(in-package "LIVE-LISP.DEBUG")

(define-operation "debug-list" ()
  "List the errors that are held."
  (object "held" (loop for held in (reverse **held**)
                       collect (object "error" (held-number held)
                                       "seconds" (held-seconds held)
                                       "thread" (and (null (held-job held))
                                                     (short-thread-name (held-thread held)))
                                       "type" (class-text (class-of (held-condition held)))))))

(defun no-frame (number)
  "Return the members that say that the error of this thread has no frame NUMBER."
  (list "value" (object "noFrame" number "frames" (length (held-frames *held*)))))

(defun asked-frame (number)
  "Return the frame NUMBER of the error that this thread holds, or NIL; without NUMBER the default
frame."
  (if number (frame-numbered *held* number) (default-frame *held*)))

(defun frame-package (frame)
  "Return the package in which forms to be evaluated in FRAME are read: that of its function's name,
or the current one if that is locked, as SBCL's packages are."
  (let* ((root (and frame (root-name (frame-name frame))))
         (package (and root (symbol-package root))))
    (if (and package (not (sb-ext:package-locked-p package)))
        package
        (usable-package *package*))))

(defun frame-parameters (frame)
  "Return pairs of a parameter of FRAME's function and its argument. Leave out a parameter whose
variable has its value in FRAME, and one whose argument is not kept."
  (ignore-errors
   (let* ((kept (loop for variable in (frame-variables frame)
                      when (eq :valid (variable-validity variable (frame-place frame)))
                        collect (variable-symbol variable))))
     (loop for parameter in (frame-lambda-list frame)
           for argument in (frame-arguments frame)
           until (member parameter '(&key &rest &aux &body))
           when (and (symbolp parameter)
                     (not (member parameter lambda-list-keywords))
                     (not (member parameter kept))
                     (not (not-kept-p argument)))
             collect (cons parameter argument)))))

(defun locals-data (frame)
  "Return the locals of FRAME, and its FRAME-PARAMETERS, as JSON objects."
  (let ((parameters (frame-parameters frame)) (*tells-ids* t))
    (append (loop for (name . value) in parameters
                  collect (object "name" (symbol-name name) "value" (local-text value)
                                  "id" (object-id value)))
            (remove-if (lambda (local)
                         (let ((name (second (member "name" (json-object-members local)
                                                     :test #'equal))))
                           (find name parameters :key (lambda (pair) (symbol-name (car pair)))
                                 :test #'equal)))
                       (frame-locals frame)))))

(defun frame-data (frame number)
  "Return FRAME, the frame NUMBER of the error of this thread, with its locals, as a JSON object."
  (multiple-value-bind (again why) (frame-call-again frame)
    (object "frame" number
            "call" (frame-object (frame-text (frame-call frame)) (call-place frame))
            "locals" (locals-data frame)
            "package" (package-name (frame-package frame))
            "again" (and again t)
            "why" why)))

(define-operation ("debug-look" :members t :starter #'look-in-thread) (frame)
  "Return the error of this thread, or its frame number FRAME with locals."
  (let ((found (frame-numbered *held* frame)))
    (cond ((null frame) (held-members *held* nil))
          (found (list "value" (frame-data found frame)))
          (t (no-frame frame)))))

(defun lost-variables (frame known)
  "Return the symbols, except those in KNOWN, of the variables and parameters of FRAME whose values
are not kept there."
  (let ((place (frame-place frame)) (lost '()) (kept known))
    (dolist (variable (frame-variables frame))
      (if (eq :valid (variable-validity variable place))
          (push (variable-symbol variable) kept)
          (push (variable-symbol variable) lost)))
    (loop for symbol in (append lost (frame-lambda-list frame))
          when (and (symbolp symbol)
                    (symbol-package symbol)
                    (not (member symbol kept))
                    (not (member symbol lambda-list-keywords))
                    (not (sb-ext:package-locked-p (symbol-package symbol)))
                    (member (known :variable :kind symbol) '(nil :unknown)))
            collect symbol)))

(defun fail-not-kept (symbol)
  "Signal an error that says that the value of the variable SYMBOL of a frame is not kept."
  (error
   "The value of ~A is not kept at this place of the frame. debug_level: 3 of eval_form or load_file keeps all."
   symbol))

(defun form-within (form frame)
  "Return FORM with the parameters of FRAME bound. In it a variable whose value is not kept signals
an error."
  (let* ((parameters (frame-parameters frame))
         (lost (ignore-errors (remove-duplicates (lost-variables frame
                                                                 (mapcar #'car parameters))))))
    `(let ,(loop for (name . value) in parameters collect `(,name ',value))
       (declare (ignorable ,@(mapcar #'car parameters)))
       ,(if lost
            `(symbol-macrolet ,(loop for symbol in lost collect `(,symbol (fail-not-kept ',symbol)))
               ,form)
            form))))

(defun evaluate-within (form frame)
  "Return the values of FORM with the variables and the parameters of FRAME, as a list."
  (multiple-value-list (evaluate-in-frame frame (form-within form frame))))

(defun shows-variable-p (form frame)
  "True when FORM contains the name of a variable or a parameter of FRAME, so that it can be
evaluated only there."
  (shows-p form (ignore-errors (append (loop for variable in (frame-variables frame)
                                             collect (variable-symbol variable))
                                       (mapcar #'car (frame-parameters frame))
                                       (lost-variables frame '())))))

(defun evaluate-here (forms frame)
  "Evaluate FORMS, lists of a form and a function that returns its source text, with the variables
of FRAME unless it is NIL. Return the values of the last form. Report forms that change the image to
the server, except those that use variables of FRAME."
  (let ((values '()))
    (loop for (form text) in forms
          do (setf values
                   (cond ((null frame) (evaluate-telling form text #'identity))
                         ((shows-variable-p form frame) (evaluate-within form frame))
                         (t (let ((form form))
                              (evaluate-telling `(values-list (funcall ,(lambda ()
                                                                          (evaluate-within form
                                                                                           frame))))
                                                text #'identity))))))
    values))

(defun values-here (codes frame)
  "Evaluate the forms of each of the texts CODES with the variables of FRAME. Return for each text a
list of the values of its last form. If a text cannot be read, nothing is evaluated, and the second
value says why as a JSON object."
  (let ((forms (loop for code in codes
                     collect (multiple-value-bind (forms unreadable) (forms-with-texts code)
                               (when unreadable (return-from values-here (values '() unreadable)))
                               forms))))
    (loop for each in forms collect (call-user-code (lambda () (evaluate-here each frame))))))

(define-operation ("debug-eval" :members t :starter #'look-in-thread) (frame codes package keep)
  "Evaluate the texts CODES with the variables of the frame number FRAME of the error of this
thread, or the default frame. Read them in PACKAGE or, if it is NIL, in the package of the frame's
function. With KEEP, keep their values for continuing from the error."
  (let ((found (asked-frame frame)) (*remarks* (make-remarks)) (*value-budget* 10000))
    (if (and frame (null found))
        (no-frame frame)
        (let ((*package* (if package (named-package package) (frame-package found))))
          (multiple-value-bind (values unreadable)
              (call-collecting-warnings (lambda () (values-here codes found)))
            (when keep (setf (held-values *held*) values))
            (append (list "values" (mapcar #'printed-values values) "unreadable" unreadable)
                    (warning-members)))))))

;;; New definitions

(defun specializer-of (parameter)
  "Return the specializer that PARAMETER of a method names, or NIL."
  (let ((name (if (consp parameter) (second parameter) t)))
    (cond ((symbolp name) (find-class name nil))
          ((and (eq (first name) 'eql) (constantp (second name)))
           (sb-mop:intern-eql-specializer (eval (second name)))))))

(defun defined-method (form)
  "Return the method that FORM, a DEFMETHOD, would replace, or NIL."
  (let* ((rest (member-if #'listp (cddr form)))
         (required (ldiff (first rest)
                          (member-if (lambda (parameter) (member parameter lambda-list-keywords))
                                     (first rest)))))
    (find-method (plain-definition (second form)) (ldiff (cddr form) rest)
                 (mapcar #'specializer-of required) nil)))

(defun replaced-sources (form)
  "Return the places in files of the definitions that FORM, a definition, would replace, as JSON
objects."
  (when (and (consp form) (consp (rest form)))
    (if (eq (first form) 'defmethod)
        (let ((source (introspect "FIND-DEFINITION-SOURCE" (defined-method form))))
          (list (and source (place-data source))))
        (function-sources (second form)))))

(defun replaced-data (code package)
  "Return JSON objects for definitions in files that those in the text CODE, read in PACKAGE, would
replace."
  (ignore-errors
   (let ((*package* package))
     (loop for form in (forms-in code)
           for sources = (remove nil (ignore-errors (replaced-sources form)))
           when sources
             collect (object "name" (printing-plainly (print-safely 100 (second form)))
                             "method" (and (eq (first form) 'defmethod) t)
                             "place" (first sources))))))

(define-operation ("debug-fix" :members t :starter #'look-in-thread) (frame code package)
  "Evaluate the forms of the text CODE as EVALUATE does, in PACKAGE, or in that of the function of
the frame number FRAME. Also return which definitions in files they replace."
  (let* ((package (if package (named-package package) (frame-package (asked-frame frame))))
         (replaced (replaced-data code package)))
    (list* "replaced" replaced (evaluate-code code package))))

(define-operation ("debug-go" :members t :starter #'go-on-in-thread) ()
  "Have the thread of an error go on. The starter does that; this body never runs."
  '())
