;;;; Installs and removes PROBEs (recording.lisp), the wrappers that record the calls of functions.
;;;; CALL-OBSERVED does both around the observed code. For generic functions, a second wrapper
;;;; records the methods that calls enter.

(in-package "LIVE-LISP.OBSERVE")

;;; The methods that calls enter. A generic function calls its methods from code that SBCL makes
;;; when the generic function is called. After a probe was installed or removed, SBCL makes this
;;; code again. The backend wraps methods only in this code, and changes neither the method objects
;;; nor their functions.

(sb-ext:defglobal **entered-functions** '()
  "A list of the generic functions with probes. A probe is a wrapper that records calls. A generic
function with several probes is in the list once for each probe.")

(sb-ext:defglobal **entered-lock** (sb-thread:make-mutex :name "live-lisp entered methods")
  "A lock that a thread holds while it changes **ENTERED-FUNCTIONS**.")

(defun noting-entries (original function method code fast)
  "A wrapper of SBCL's function that returns the function to call for a method (+CALLED-METHOD+).
ORIGINAL is that function. The other parameters are its arguments: the generic function FUNCTION,
METHOD or NIL, the function CODE of METHOD, and true as FAST if CODE is a fast function. If FUNCTION
has a probe, return a function that first records that METHOD was entered. Otherwise return the
value of ORIGINAL."
  (let ((code (funcall original function method code fast)))
    (declare (type function code))
    (if (and method (member function **entered-functions** :test #'eq))
        (lambda (&rest arguments)
          (note-entry function method)
          (apply code arguments))
        code)))

(defun note-entries-of (function)
  "Record from now on which methods the calls of the generic function FUNCTION enter. This takes
effect only when SBCL next makes the code that calls the methods. The caller must cause that, for
example by installing a probe."
  (sb-thread:with-mutex (**entered-lock**)
    (push function **entered-functions**)
    (when (and (null (rest **entered-functions**)) +called-method+)
      (wrap +called-method+ 'noting-entries #'noting-entries))))

(defun forget-entries-of (function)
  "Undo one call of NOTE-ENTRIES-OF for the generic function FUNCTION. After as many calls of this
function, the methods that calls of FUNCTION enter are no longer recorded."
  (sb-thread:with-mutex (**entered-lock**)
    (setf **entered-functions** (remove function **entered-functions** :count 1))
    (when (and (null **entered-functions**) +called-method+)
      (unwrap +called-method+ 'noting-entries))))

;;; Installing and removing probes

(defun put-probe (probe)
  "Install PROBE, a PROBE structure, as a wrapper that records the calls of its function."
  (let* ((name (probe-name probe)) (function (plain-definition name)))
    (when (typep function 'generic-function)
      (setf (probe-generic probe) function)
      (note-entries-of function))
    (wrap name (probe-key probe) (recorder probe))))

(defun take-probe (probe)
  "Remove PROBE, a PROBE structure, from its function, even if the name in PROBE now has another
function or none."
  (let* ((name (probe-name probe))
         (generic (probe-generic probe))
         (named (and (fboundp name) (eq generic (plain-definition name)))))
    (when generic (forget-entries-of generic))
    (unwrap name (probe-key probe))
    (when (and generic (not named)) (release-generic generic (probe-key probe)))))

(defun make-probes (observation names where package)
  "Make a probe, a wrapper that records calls, for each of the functions NAMES. Store the probes in
OBSERVATION, and return a list of them. WHERE is NIL, or the text of a form, read in PACKAGE, that
must be true for a call to be recorded."
  (let ((choosers (loop for name in names collect (and where (chooser name where package)))))
    (setf (observation-probes observation) (loop for name in names
                                                 for chooser in choosers
                                                 collect (make-probe name observation chooser)))))

(defun end-observation (observation)
  "Stop recording calls for OBSERVATION, and remove all its probes."
  (setf (observation-active observation) nil)
  (unless (observation-ended observation) (setf (observation-ended observation) (now)))
  (let ((*unrecorded* t))
    (mapc #'take-probe (observation-probes observation))))

(defun call-observed (observation function)
  "Call FUNCTION while the probes of OBSERVATION record calls, and return its values."
  (call-until-session-ends
   (lambda ()
     (let ((*unrecorded* t))
       (mapc #'put-probe (observation-probes observation)))
     (setf (observation-begun observation) (now)))
   function
   (lambda () (end-observation observation))))
