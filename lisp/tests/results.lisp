;;;; Records the result of each test. The server hears when a test begins and ends, in case the
;;;; image is lost.

(in-package "LIVE-LISP.TESTS")

(defparameter *noted-failures* 200
  "At most this many failures of a run are recorded in full; the others are counted.")
(defparameter *noted-in-test* 20 "At most this many failures of one test are recorded in full.")

(defstruct (result (:constructor make-result
                                 (framework name text &optional (systems *tested-systems*))))
  "The result of a test. FRAMEWORK is the name of its framework, NAME the test's name there, TEXT
that name as text. CHECKS counts its checks, FAILED those that failed, SKIPPED those left out;
ERRORS counts unexpected errors, EXPECTED expected failures. FAILURES are JSON objects, newest
first. LEFT is true when the test did not come to its end. SYSTEMS are the names of the systems
being tested, innermost first. NOTES are data of its framework's probes. REACHED is the REACHED-TEXT
of the definitions that it ran."
  framework name text systems
  (checks 0) (failed 0) (errors 0) (skipped 0) (expected 0)
  (failures '()) (milliseconds 0) (left nil) (notes '()) (reached nil)
  (output-capture (make-capture 400 600)))

(defvar *result* nil "The result of the test that this thread runs, or NIL.")

;;; Failures

(defun check-place (package)
  "Return the place of the check being made as a property list of members, or NIL: that of the
newest call on the stack in a file of neither the system nor the framework of PACKAGE."
  (loop with homes = (homes-with package)
        for frame in (ignore-errors (shown-frames))
        for root = (and (not (folded-p frame)) (root-name (frame-name frame)))
        for place = (and (not (folded-p frame))
                         (not (system-frame-p frame))
                         (not (and root (symbolp root) (member (symbol-package root) homes)))
                         (call-place frame))
        when place return place))

(defun type-name (condition package)
  "Return the name of the class of CONDITION as text, without its package where PACKAGE has the same
symbol."
  (let ((name (class-name (class-of condition))))
    (if (and name (symbolp name) (eq name (find-symbol (symbol-name name) package)))
        (symbol-name name)
        (class-text (class-of condition)))))

(defun note-failure (package kind &key (form nil form-given) (check nil check-given)
                                  (expected nil expected-given)
                                  (got nil got-given) text condition (place (check-place package)))
  "Record in the result of the current test a failure of KIND, \"failure\", \"error\" or
\"expected\". PACKAGE is that of its framework. FORM is what was evaluated, CHECK a form that says
what was wanted of it. EXPECTED and GOT are values as text, TEXT is the framework's message.
CONDITION is what was signalled, PLACE is from CHECK-PLACE."
  (cond ((string= kind "error") (incf (result-errors *result*)))
        ((string= kind "expected") (incf (result-expected *result*)))
        (t (incf (result-failed *result*))))
  (when (and (string/= kind "expected")
             (< (run-noted *run*) *noted-failures*)
             (< (length (result-failures *result*)) *noted-in-test*))
    (incf (run-noted *run*))
    (let ((home (home-of (result-name *result*))))
      (push (object "kind" kind
                    "form" (and form-given (form-text form home))
                    "check" (and check-given (form-text check home))
                    "expected" (and expected-given expected)
                    "got" (and got-given got)
                    "text" (and text (both-ends (string-trim " " (on-one-line text))))
                    "type" (and condition (type-name condition home))
                    "condition" (and condition
                                     (let ((*package* home))
                                       (both-ends (on-one-line (report-text 2000 condition)))))
                    "place" (and place (make-json-object place)))
            (result-failures *result*)))))

(defun note-checks (count)
  "Record that the current test has made COUNT more checks."
  (incf (result-checks *result*) count))

;;; Reporting

(defun tell-part (part)
  "Send PART, a JSON object, to the server in advance: a part of the answer of this job."
  (when *job* (send (object "part" part "id" (job-id *job*)))))

(defun output-text (capture)
  "Return what CAPTURE has kept as text, with dots for what is missing, or NIL."
  (let ((output (captured capture)))
    (when output
      (destructuring-bind (&key head tail)
          (loop for (key value) on (json-object-members output) by #'cddr
                when (equal key "text") append (list :head value)
                when (equal key "tail") append (list :tail value))
        (let* ((text (string-trim '(#\Space #\Newline)
                                  (if tail (concatenate 'string head "..." tail) head))))
          (and (plusp (length text)) text))))))

(defun result-data (result &optional definition)
  "Return RESULT, of a test that is defined at DEFINITION, as a JSON object."
  (object "definition" definition
          "framework" (result-framework result)
          "test" (result-text result)
          "checks" (result-checks result)
          "failed" (result-failed result)
          "errors" (result-errors result)
          "skipped" (result-skipped result)
          "expected" (result-expected result)
          "failures" (reverse (result-failures result))
          "output" (and (or (result-left result) (result-failures result))
                        (output-text (result-output-capture result)))
          "milliseconds" (result-milliseconds result)
          "left" (result-left result)
          "systems" (result-systems result)
          "reached" (result-reached result)))

(defun milliseconds-since (began)
  "Return how many milliseconds have passed since the internal real time BEGAN."
  (round (* 1000 (- (get-internal-real-time) began)) internal-time-units-per-second))

(defun call-with-seed (name function)
  "Call FUNCTION with random numbers determined by NAME, a text, and the seed of the run, if it has
one. So a test has the same numbers alone as after others."
  (let ((seed (run-seed *run*)))
    (if seed
        (let ((*random-state* (sb-ext:seed-random-state
                               (map '(vector (unsigned-byte 32))
                                    (lambda (part) (ldb (byte 32 0) part))
                                    (list seed (ash seed -32) (sxhash name))))))
          (funcall function))
        (funcall function))))

(defun call-capturing (result function)
  "Call FUNCTION with its output going to RESULT. Answers show its frames down to here."
  (let* ((stream (capturing (result-output-capture result)))
         (*standard-output* stream) (*error-output* stream) (*trace-output* stream))
    (call-user-code function)))

(defun call-as-test (framework name function)
  "Call FUNCTION, which runs the test NAME of FRAMEWORK, and record the result. Tests to leave out
are not run."
  (let* ((text (test-text name))
         (result (make-result framework name text))
         (began (get-internal-real-time))
         (done nil))
    (incf (run-seen *run*))
    (unless (member text (run-skip *run*) :test #'string=)
      (push result (run-results *run*))
      (tell-part (object "began" text "framework" framework))
      (unwind-protect (multiple-value-prog1
                          (call-noting-reached
                           (lambda ()
                             (let ((*result* result))
                               (call-with-seed text (lambda () (call-capturing result function)))))
                           (lambda (reached) (setf (result-reached result) reached)))
                        (setf done t))
        (setf (result-left result) (not done)
              (result-milliseconds result) (milliseconds-since began))
        (tell-part (result-data result))))))

(defparameter *found-definitions* 50
  "For at most this many failed tests of a run the definition is found.")

(defun bad-p (result)
  "True when the test of RESULT did not pass."
  (or (result-left result) (plusp (+ (result-failed result) (result-errors result)))))

(defun bare-text (name)
  "Return NAME, of a test, as text without a package or a class."
  (let ((text (if (symbolp name) (symbol-name name) (test-text name))))
    (if (stringp name) (subseq text (1+ (or (position #\. text) -1))) text)))

(defun package-of (name)
  "Return the package of NAME, of a test: that of a symbol, or the one before two colons; NIL for
another name."
  (if (symbolp name)
      (symbol-package name)
      (let ((end (and (stringp name) (search "::" name))))
        (and end (find-package (subseq name 0 end))))))

(defun definition-of (result)
  "Return as a JSON object where the test of RESULT is defined. Return NIL for a name without a
package, which any form could define. Prefer a form with an operator of the framework; a form with
one of the language, as DEFUN, is no test."
  (let* ((name (result-name result))
         (home (package-of name))
         (framework (find (result-framework result) **frameworks** :key #'framework-name
                          :test #'string=))
         (homes (and framework (framework-homes framework))))
    (flet ((at-form (operator-p)
             (multiple-value-bind (path number)
                 (ignore-errors (form-naming (bare-text name) home operator-p))
               (and path (object "file" path "form" number)))))
      (and home
           (or (at-form (lambda (operator) (and operator (member (symbol-package operator) homes))))
               (at-form (lambda (operator) (not (and operator (of-system-p operator))))))))))

(defun results-data (run)
  "Return the results of RUN as JSON objects, in the order in which the tests began."
  (call-finding-forms
   (lambda ()
     (loop with left = *found-definitions*
           for result in (reverse (run-results run))
           collect (result-data result
                                (and (bad-p result) (plusp (decf left)) (definition-of result)))))))
