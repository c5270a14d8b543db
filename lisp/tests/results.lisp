;;;; Records the result of each test. Sends the server a message when a test begins and when it
;;;; ends, so that the server has the results even if the image is lost.
;;;;
;;;; The wrappers of the frameworks (frameworks.lisp, and a file for each) call CALL-AS-TEST around
;;;; a test, and NOTE-CHECKS and NOTE-FAILURE within it. These record in *RESULT*, the RESULT of the
;;;; test, and *RUN*, the RUN that it belongs to. They run within the user's tests, so they do their
;;;; own work in APART-FROM-TESTS (frameworks.lisp), which hides the tests' handlers and variables.

(in-package "LIVE-LISP.TESTS")

(define-shape test-failure ()
  "A failed check of a test, or an unexpected error in a test."
  (kind (member "failure" "error"))
  (form string :optional
   "The form of a test of RT, whose values differ from the expected values.")
  (check string :optional) (expected string :optional) (got string :optional)
  (text string :optional "The message of the test framework.")
  (type string :optional "The type of the condition that was signalled.")
  (condition string :optional "The report of this condition.")
  (place place :optional))

(define-shape test-result ()
  "The result of a test."
  (framework string)
  (test string "The name under which the test can be run again.")
  (checks integer :optional "Number of checks in the test.")
  (failed integer :optional "How many of the checks failed.")
  (errors integer :optional "How many of the checks signalled an error.")
  (skipped integer :optional "How many of the checks were skipped.")
  (expected integer :optional "How many of the checks failed as expected.")
  (failures (list test-failure) :optional)
  (passed (list (object (form string) (times integer))) :optional
   "The forms of checks that passed, and how often each passed. Absent unless the request named only
   this test.")
  (output string :optional "Output of the test, when it did not pass.")
  (milliseconds real :optional)
  (left boolean :optional "True when the test did not run to its end.")
  (systems (list string) :optional
   "The systems that were being tested when the test ran, innermost first.")
  (definition place :optional)
  (reached string :optional
   "Which definitions the test ran, among those whose coverage was measured: a hexadecimal bit mask.
   The lowest bit stands for the first definition."))

(define-shape begun-test ()
  "A test that began."
  (began string "The name of the test.")
  (framework string))

(define-wire-type test-part (or begun-test test-result)
  "A report that arrives while the tests run.")

(defparameter *noted-failures* 200
  "The maximum number of failures recorded in full in one run. Further failures are only counted.")
(defparameter *noted-in-test* 20
  "The maximum number of failures recorded in full in one test. Further failures are only counted.
It is also the maximum number of different passed checks that are recorded in one test.")

(defstruct (result (:constructor make-result
                                 (framework name text &optional (systems *tested-systems*))))
  "The result of a test.
FRAMEWORK: the name of its test framework.
NAME, TEXT: the name of the test in the framework, and this name as text.
CHECKS, FAILED, SKIPPED: the numbers of all checks, of failed checks and of skipped checks.
ERRORS, EXPECTED: the numbers of unexpected errors and of expected failures.
FAILURES: a list of JSON objects, newest first.
PASSED: an alist, newest first. A key is the text of a check that passed, its value the number of
times that it passed.
LEFT: true if the test did not end normally.
SYSTEMS: a list of the names of the systems being tested, innermost first.
NOTES: a plist in which the wrappers around functions of the framework keep facts about the test.
REACHED: NIL, or the text from REACHED-TEXT for the definitions that the test has called.
OUTPUT-CAPTURE: a CAPTURE for the first 400 and the last 600 characters of the test's output."
  framework name text systems
  (checks 0) (failed 0) (errors 0) (skipped 0) (expected 0)
  (failures '()) (passed '()) (milliseconds 0) (left nil) (notes '()) (reached nil)
  (output-capture (make-capture 400 600)))

(defvar *result* nil "The RESULT structure of the test that this thread is running, or NIL.")

;;; Recording failures

(defun check-place (package)
  "Return a plist for a JSON object with the source location of the current check, or NIL. This is
the place of the innermost call on the stack that is in a file. Ignore calls in SBCL, in ASDF, in
the backend and in the test framework of PACKAGE."
  (apart-from-tests
    (loop with homes = (homes-with package)
          for frame in (nil-if-unknown (shown-frames))
          for root = (and (not (folded-p frame)) (root-name (frame-name frame)))
          for place = (and (not (folded-p frame))
                           (not (system-frame-p frame))
                           (not (and root (symbolp root) (member (symbol-package root) homes)))
                           (call-place frame))
          when place return place)))

(defun type-name (condition package)
  "Return the name of the class of CONDITION as text. Leave out the package prefix if the name is
accessible in PACKAGE."
  (let ((name (class-name (class-of condition))))
    (if (and name (symbolp name) (eq name (find-symbol (symbol-name name) package)))
        (symbol-name name)
        (class-text (class-of condition)))))

(defun note-failure (package kind &key (form nil form-given) (check nil check-given)
                                  (expected nil expected-given)
                                  (got nil got-given) text condition (place (check-place package)))
  "Record a failure of the current test. KIND is \"failure\", \"error\" or \"expected\". FORM is the
form that was evaluated, and CHECK the form that should have been true. EXPECTED, GOT and the
message TEXT are texts. CONDITION is the condition that was signalled. PLACE is from CHECK-PLACE for
PACKAGE, the package of the framework."
  (cond ((string= kind "error") (incf (result-errors *result*)))
        ((string= kind "expected") (incf (result-expected *result*)))
        (t (incf (result-failed *result*))))
  (when (and (string/= kind "expected")
             (< (run-noted *run*) *noted-failures*)
             (< (length (result-failures *result*)) *noted-in-test*))
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
              (result-failures *result*))))
    (incf (run-noted *run*))))

(defun note-checks (count)
  "Add COUNT to the number of checks of the current test."
  (incf (result-checks *result*) count))

(defun note-passed (form)
  "Record that the check FORM has passed, if this run reports checks that passed."
  (when (run-reports-passed *run*)
    (apart-from-tests
      (let* ((text (form-text form (home-of (result-name *result*))))
             (pair (assoc text (result-passed *result*) :test #'string=)))
        (cond (pair (incf (cdr pair)))
              ((< (length (result-passed *result*)) *noted-in-test*)
               (push (cons text 1) (result-passed *result*))))))))

;;; Reporting results to the server

(defun send-part (part)
  "Send PART, a JSON object, to the server as a part of the answer of this job, before the job
ends."
  (when *job* (apart-from-tests (send (object "part" part "id" (job-id *job*))))))

(defun output-text (capture)
  "Return the output in CAPTURE, a CAPTURE structure, as text, with dots in place of output that
CAPTURE has dropped. Return NIL if there is no output."
  (let ((output (captured capture)))
    (when output
      (let* ((head (json-member "text" output))
             (tail (json-member "tail" output))
             (text (string-trim '(#\Space #\Newline)
                                (if tail (concatenate 'string head "..." tail) head))))
        (and (plusp (length text)) text)))))

(defun result-data (result &optional definition)
  "Return a JSON object for RESULT, a RESULT structure. DEFINITION is NIL or a JSON object with the
place where the test is defined."
  (object "definition" definition
          "framework" (result-framework result)
          "test" (result-text result)
          "checks" (result-checks result)
          "failed" (result-failed result)
          "errors" (result-errors result)
          "skipped" (result-skipped result)
          "expected" (result-expected result)
          "failures" (reverse (result-failures result))
          "passed" (loop for (text . times) in (reverse (result-passed result))
                         collect (object "form" text "times" times))
          "output" (and (or (result-left result) (result-failures result))
                        (output-text (result-output-capture result)))
          "milliseconds" (result-milliseconds result)
          "left" (result-left result)
          "systems" (result-systems result)
          "reached" (result-reached result)))

(defun milliseconds-since (began)
  "Return the number of milliseconds since BEGAN, a value of GET-INTERNAL-REAL-TIME."
  (round (* 1000 (- (get-internal-real-time) began)) internal-time-units-per-second))

(defun call-with-seed (name function)
  "Call FUNCTION, which runs the test NAME. If the run has a seed, random numbers in FUNCTION depend
only on the seed and NAME, not on earlier tests."
  (let ((seed (run-seed *run*)))
    (if seed
        (let ((*random-state* (sb-ext:seed-random-state
                               (map '(vector (unsigned-byte 32))
                                    (lambda (part) (ldb (byte 32 0) part))
                                    (list seed (ash seed -32) (sxhash name))))))
          (funcall function))
        (funcall function))))

(defun call-capturing (result function)
  "Call FUNCTION, and capture its output in RESULT, a RESULT structure. Call it as code of the user,
so that stacks in answers show no frames outside this call."
  (let* ((stream (capturing (result-output-capture result)))
         (*standard-output* stream) (*error-output* stream) (*trace-output* stream))
    (call-user-code function)))

(defun package-of (name)
  "Return the package of NAME, a test's name: the home package of a symbol, or of the symbol with
which a list begins, or the package named before :: in a string. Return NIL if there is none."
  (typecase name
    (symbol (symbol-package name))
    ((cons symbol) (symbol-package (first name)))
    (string (let ((end (search "::" name)))
              (and end (find-package (subseq name 0 end)))))))

(defun bare-text (name)
  "Return NAME, a test's name, as text without a package prefix."
  (typecase name
    (symbol (symbol-name name))
    (string (let* ((text (test-text name)) (mark (search "::" text)))
              (subseq text (if mark (+ mark 2) 0))))
    (t (printing-briefly 200 name (or (package-of name) *package*)))))

(defun former-file (name)
  "Return the path of the file that defined the test NAME and no longer defines it, so that a fresh
image would lack the test. Return NIL if this is not certain of any file."
  (let ((home (package-of name)))
    (and home
         (not (evaluated-definition-p name))
         (file-formerly-naming (bare-text name) home
                               (lambda (operator)
                                 ;; NIL stands for an operator that the image lacks. The package of
                                 ;; a test framework can be locked.
                                 (or (null operator)
                                     (member (symbol-package operator) (all-homes) :test #'eq)
                                     (not (core-symbol-p operator))))))))

(defun former-p (name text)
  "Return true if the file that defined the test NAME no longer has this test. Such a test must not
run, so store it with its file in the slot FORMER of *RUN*. TEXT is NAME as text."
  (let ((file nil))
    ;; Set FILE here, and ignore the value of APART-FROM-TESTS. If the search is cut short, as by a
    ;; stack overflow, that value can be anything.
    (apart-from-tests
      (setf file (nil-if-unreadable (call-finding-forms (lambda () (former-file name))))))
    (when file
      (pushnew (cons text file) (run-former *run*) :test #'equal))))

(defun shown-test-name (name)
  "Return the name of the test NAME as text, even when the stack is nearly full."
  (let ((text nil))
    ;; Use TEXT, not the value of APART-FROM-TESTS, which is arbitrary after a stack overflow.
    (apart-from-tests (setf text (test-text name)))
    (or text (if (symbolp name) (symbol-name name) ""))))

(defun call-as-test (framework name function)
  "Call FUNCTION, which runs the test NAME of the framework with the name FRAMEWORK, and record the
result. Return the values of FUNCTION. Do not call FUNCTION, and return NIL, if the run skips this
test, or if the file of the test no longer has the test, since a fresh image would not have it."
  (let* ((text (shown-test-name name))
         (result (make-result framework name text))
         (began (get-internal-real-time))
         (done nil))
    (incf (run-begun *run*))
    (unless (or (member text (run-skip *run*) :test #'string=) (former-p name text))
      (push result (run-results *run*))
      (send-part (object "began" text "framework" framework))
      (unwind-protect (multiple-value-prog1
                          (call-noting-reached
                           (lambda ()
                             (let ((*result* result))
                               (call-with-seed text (lambda () (call-capturing result function)))))
                           (lambda (reached) (setf (result-reached result) reached)))
                        (setf done t))
        (setf (result-left result) (not done)
              (result-milliseconds result) (milliseconds-since began))
        (send-part (result-data result))))))

(defparameter *found-definitions* 50
  "The maximum number of failed tests in a run whose definitions are looked up.")

(defun bad-p (result)
  "Return true if the test of RESULT, a RESULT structure, failed, had an error or did not end."
  (or (result-left result) (plusp (+ (result-failed result) (result-errors result)))))

(defun definition-of (result)
  "Return a JSON object with the place of the form that defines the test of RESULT. Search for a
form with the name of the test: first a form whose operator is from the test framework, then any
form whose operator is not from SBCL. Return NIL if there is none, or if the name has no package."
  (let* ((name (result-name result))
         (home (package-of name))
         (framework (find (result-framework result) **frameworks** :key #'framework-name
                          :test #'string=))
         (homes (and framework (framework-homes framework))))
    (flet ((at-form (operator-p)
             (multiple-value-bind (path number)
                 (nil-if-unreadable (form-naming (bare-text name) home operator-p))
               (and path (loaded-place path number)))))
      (and home
           (or (at-form (lambda (operator) (and operator (member (symbol-package operator) homes))))
               (at-form (lambda (operator) (not (and operator (core-symbol-p operator))))))))))

(defun results-data (run)
  "Return a list of JSON objects with the results of RUN, in the order in which the tests began."
  (call-finding-forms
   (lambda ()
     (loop with left = *found-definitions*
           for result in (reverse (run-results run))
           collect (result-data result
                                (and (bad-p result)
                                     (<= 0 (decf left))
                                     (definition-of result)))))))
