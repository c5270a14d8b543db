;;;; Records the result of each test. The server is informed when a test begins and when it ends: so
;;;; it knows the results even if the image is lost.

(in-package "LIVE-LISP.TESTS")

(defparameter *noted-failures* 200
  "At most this many failures of a run are recorded in full; the others are counted.")
(defparameter *noted-in-test* 20 "At most this many failures of one test are recorded in full.")

(defstruct (result (:constructor make-result
                                 (framework name text &optional (systems *tested-systems*))))
  "The result of a test.
FRAMEWORK: the name of its test framework. NAME: the test's name there. TEXT: the name as text.
CHECKS, FAILED, SKIPPED: the numbers of all its checks, of failed ones and of skipped ones.
ERRORS, EXPECTED: the numbers of unexpected errors and of expected failures.
FAILURES: a list of JSON objects, newest first.
LEFT: true if the test did not end normally.
SYSTEMS: a list of the names of the systems being tested, innermost first.
NOTES: a plist for the framework's wrappers.
REACHED: a text that says which definitions the test has called, as REACHED-TEXT returns it."
  framework name text systems
  (checks 0) (failed 0) (errors 0) (skipped 0) (expected 0)
  (failures '()) (milliseconds 0) (left nil) (notes '()) (reached nil)
  (output-capture (make-capture 400 600)))

(defvar *result* nil "The result of the test that this thread runs, or NIL.")

;;; Failures

(defun check-place (package)
  "Return the place of the current check as a property list of JSON members, or NIL. This is the
place of the newest call on the stack that is in a file, but neither in the system nor in the
framework of PACKAGE."
  (apart-from-tests
    (loop with homes = (homes-with package)
          for frame in (ignore-errors (shown-frames))
          for root = (and (not (folded-p frame)) (root-name (frame-name frame)))
          for place = (and (not (folded-p frame))
                           (not (system-frame-p frame))
                           (not (and root (symbolp root) (member (symbol-package root) homes)))
                           (call-place frame))
          when place return place)))

(defun type-name (condition package)
  "Return the name of the class of CONDITION as text, without its package if the name is accessible
in PACKAGE."
  (let ((name (class-name (class-of condition))))
    (if (and name (symbolp name) (eq name (find-symbol (symbol-name name) package)))
        (symbol-name name)
        (class-text (class-of condition)))))

(defun note-failure (package kind &key (form nil form-given) (check nil check-given)
                                  (expected nil expected-given)
                                  (got nil got-given) text condition (place (check-place package)))
  "Record a failure in the result of the current test. KIND is \"failure\", \"error\" or
\"expected\". PACKAGE is the test framework's. FORM is the form that was evaluated, and CHECK a
form that should have been true. EXPECTED and GOT are values as texts. TEXT is the framework's
message. CONDITION is the condition that was signalled. PLACE is a source location as CHECK-PLACE
returns it."
  (cond ((string= kind "error") (incf (result-errors *result*)))
        ((string= kind "expected") (incf (result-expected *result*)))
        (t (incf (result-failed *result*))))
  (when (and (string/= kind "expected")
             (< (run-noted *run*) *noted-failures*)
             (< (length (result-failures *result*)) *noted-in-test*))
    (incf (run-noted *run*))
    (apart-from-tests
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
              (result-failures *result*))))))

(defun note-checks (count)
  "Record that the current test has made COUNT more checks."
  (incf (result-checks *result*) count))

;;; Reporting

(defun tell-part (part)
  "Send PART, a JSON object, to the server before the answer of this job: a part of this answer."
  (when *job* (apart-from-tests (send (object "part" part "id" (job-id *job*))))))

(defun output-text (capture)
  "Return the output that CAPTURE has kept as text, with dots where output was dropped. Return NIL
if there is none."
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
  "Return RESULT as a JSON object. DEFINITION is the place where its test is defined, from
DEFINITION-OF."
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
  "Return the milliseconds since BEGAN, an internal real time."
  (round (* 1000 (- (get-internal-real-time) began)) internal-time-units-per-second))

(defun call-with-seed (name function)
  "Call FUNCTION. If the run has a seed, the seed and the text NAME determine its random numbers, so
that a test has the same numbers alone as after others."
  (let ((seed (run-seed *run*)))
    (if seed
        (let ((*random-state* (sb-ext:seed-random-state
                               (map '(vector (unsigned-byte 32))
                                    (lambda (part) (ldb (byte 32 0) part))
                                    (list seed (ash seed -32) (sxhash name))))))
          (funcall function))
        (funcall function))))

(defun call-capturing (result function)
  "Call FUNCTION while its output goes to RESULT. In answers, the stack ends at this call."
  (let* ((stream (capturing (result-output-capture result)))
         (*standard-output* stream) (*error-output* stream) (*trace-output* stream))
    (call-user-code function)))

(defun call-as-test (framework name function)
  "Call FUNCTION, which runs the test NAME of FRAMEWORK, and record the result. Do not call it if
the run skips this test."
  (let* ((text (apart-from-tests (test-text name)))
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
  "Definitions are looked up for at most this many failed tests of a run.")

(defun bad-p (result)
  "True when the test of RESULT failed, had an error or did not end."
  (or (result-left result) (plusp (+ (result-failed result) (result-errors result)))))

(defun bare-text (name)
  "Return NAME, a test's name, as text, without a package. For a string such as CLASS.TEST, return
TEST."
  (let ((text (if (symbolp name) (symbol-name name) (test-text name))))
    (if (stringp name) (subseq text (1+ (or (position #\. text) -1))) text)))

(defun package-of (name)
  "Return the package of NAME, a test's name: the home of a symbol, or the package named before ::
in a string. Else return NIL."
  (if (symbolp name)
      (symbol-package name)
      (let ((end (and (stringp name) (search "::" name))))
        (and end (find-package (subseq name 0 end))))))

(defun definition-of (result)
  "Return the place where the test of RESULT is defined, as a JSON object. Prefer a form with an
operator of the test's framework. A form with an operator of the system, such as DEFUN, is no test.
Return NIL for a name without a package, as a form in any package could define it."
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
