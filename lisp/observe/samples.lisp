;;;; Profiles a program by sampling its stacks, with the profiler that comes with SBCL. CALL-SAMPLED
;;;; takes the samples. PROFILE-MEMBERS describes them: MAP-STACKS reduces each sample to the
;;;; functions of the program, SPOT structures count the samples with a function, and GRAPH-FRAME
;;;; structures are the call tree of all samples.

(in-package "LIVE-LISP.OBSERVE")

(define-shape spot ()
  "A function in a profile."
  (name string)
  (self real "Percentage of all samples in which the function was the innermost frame.")
  (total real "Percentage of all samples in which the function was on the stack.")
  (place place :optional)
  (caller string :optional "Name of the caller in most samples of the function.")
  (caller-part real :optional
   "Percentage of the function's samples that have this caller; absent when all have it."))

(define-shape profile ()
  "Where a program spends its time or memory."
  (runs integer :optional
   "How often the form ran. This member and the next four are absent when the request has no
   form.")
  (milliseconds real :optional "Milliseconds of real time that one run took.")
  (cpu real :optional "Milliseconds of CPU time that one run took.")
  (octets integer :optional "Octets that one run allocated.")
  (first real :optional "Milliseconds that the form's first run took, which was not sampled.")
  (samples integer)
  (full boolean :optional
   "True when the limit of samples was reached, so later samples are missing.")
  (large boolean :optional
   "True when most of the memory went to large objects, for each of which the profiler takes only
   one sample.")
  (spots (list spot) :optional)
  (found integer "Number of functions that were the innermost frame of a sample.")
  (graph (list (tuple integer string integer)) :optional
   "The call tree of all samples: for each call its depth, its function, and in how many samples it
   is. The calls that it made follow it, one level deeper. Those in the fewest samples are left out
   when there are too many.")
  (crowded (list crowded-table) :optional))

;;; Taking samples

(defparameter *sample-seconds* 0.01 "The number of seconds between two samples.")

(defparameter *sample-limit* 5000 "The maximum number of samples in modes other than :ALLOC.")

(defparameter *allocation-samples* 20000
  "The maximum number of samples in mode :ALLOC. It is higher, since SBCL takes one sample for each
allocated page of memory.")

(defun sample-limit (mode)
  "Return the maximum number of samples in MODE, such as :ALLOC."
  (if (eq mode :alloc) *allocation-samples* *sample-limit*))

(sb-ext:defglobal **profiling** (sb-thread:make-mutex :name "live-lisp profiling")
  "A lock that a thread holds while samples are taken and described. The operation observe-profile
takes it.")

(defun call-sampled (mode function)
  "Call FUNCTION and return its values. While it runs, sample the stacks of all threads in MODE:
:CPU, :ALLOC or :TIME. The caller holds **PROFILING**."
  (funcall (profiler "RESET"))
  (call-until-session-ends
   (lambda ()
     (funcall (profiler "START-PROFILING")
              :mode mode :sample-interval *sample-seconds* :max-samples (sample-limit mode)
              :threads :all)
     ;; START-PROFILING alone makes SBCL sample only threads that begin later.
     (dolist (thread (sb-thread:list-all-threads))
       (nil-if-program-fails (funcall (profiler "START-SAMPLING") thread))))
   function
   (lambda () (funcall (profiler "STOP-PROFILING")))))

(defun profiler (name)
  "Return the function called NAME, a string, of SBCL's profiler. If this SBCL has no profiler, end
the operation with an error answer."
  (or (contrib-function "SB-SPROF" name)
      (progn (require-contrib "SB-SPROF")
             (contrib-function "SB-SPROF" name))
      (fail-lookup "noProfiler" t)))

(defun profiler-value (name)
  "Return the value of the variable called NAME, a string, of SBCL's profiler. Return NIL if there
is none."
  (let ((symbol (contrib-symbol "SB-SPROF" name)))
    (and symbol (boundp symbol) (symbol-value symbol))))

;;; Describing samples in answers

(defstruct (sampled-frame (:constructor make-sampled-frame (name info)))
  "A function on a sampled stack. NAME is its debug name, or a text if it has none. INFO is SBCL's
debug information about its frame."
  name info)

(defstruct (spot (:constructor make-spot (name info)))
  "A function that occurs in samples.
NAME, INFO: its debug name or a text, and SBCL's debug information about its frame.
SELF: the number of samples in which it was the innermost function.
TOTAL: the number of samples in which it was on the stack.
CALLERS: an alist from the names of its callers to numbers of samples."
  name info (self 0) (total 0) (callers '()))

(defstruct (graph-frame (:constructor make-graph-frame (name)))
  "A frame in the call tree of samples. NAME is the debug name of its function, or text. SAMPLES is
the number of samples that have the frame on the stack. CALLEES is a list of the frames that it
called."
  name (samples 0) (callees '()))

(defun profile-members (mode top octets)
  "Return a plist for a JSON object about the samples that were taken: their number, true if the
maximum number was reached, and at most TOP functions. MODE is the mode of the profiler. OCTETS is
the number of octets that were allocated while the samples were taken, or NIL if this number is
unknown."
  (multiple-value-bind (spots graph all) (counted-samples mode)
    (let ((samples (graph-frame-samples graph)))
      (list "samples" samples
            "full" (>= all (sample-limit mode))
            "large" (and (eq mode :alloc)
                         octets
                         (< 0 all (sample-limit mode))
                         ;; SBCL takes a sample for each page of small objects, but only one for a
                         ;; large object of several pages.
                         (> octets (* 2 all page-octets)))
            "spots" (and (plusp samples)
                         (loop for spot in (chosen-spots spots top samples)
                               collect (spot-row spot samples)))
            "found" (count-if #'plusp spots :key #'spot-self)
            "graph" (graph-rows graph)
            "crowded" (crowded-tables (hot-functions spots samples))))))

(defparameter *hot-part* 1/20
  "The least fraction of the samples that must have a function on the stack before its hash tables
are examined.")

(defun hot-functions (spots samples)
  "SPOTS is a list of SPOT structures, and SAMPLES the number of samples. Return a list of the
functions of the program in SPOTS that are on the stack in at least the fraction *HOT-PART* of the
samples."
  (loop for spot in spots
        for function = (and (>= (spot-total spot) (* *hot-part* samples))
                            (program-name-p (spot-name spot))
                            (nil-if-unknown (function-of-frame (spot-info spot))))
        when function collect function))

(defun chosen-spots (spots top samples)
  "SPOTS is a list of SPOT structures, which stand for functions, and SAMPLES the number of samples.
Return a list of TOP elements of SPOTS. Three fourths of them are those that were most often the
innermost function, the others those that were most often on the stack. The others do not include
those that have a text as name, such as foreign code. Leave out functions that are in fewer than one
of 2000 samples."
  (let* ((spots (remove-if (lambda (spot) (< (* 2000 (spot-total spot)) samples)) spots))
         (by-self (sort (remove 0 spots :key #'spot-self) #'> :key #'spot-self))
         (innermost (page by-self 0 (- top (floor top 4))))
         (others (sort (remove-if (lambda (spot)
                                    (or (stringp (spot-name spot)) (member spot innermost)))
                                  spots)
                       #'> :key #'spot-total)))
    (append innermost (page others 0 (- top (length innermost))))))

(defun spot-row (spot samples)
  "Return a JSON object about the function of SPOT, a SPOT structure. Its counts become percentages
of SAMPLES, the number of samples in which the program ran."
  (let ((caller (first (stable-sort (copy-list (spot-callers spot)) #'> :key #'cdr))))
    (flet ((part (count) (/ (round (* 1000 count) samples) 10d0)))
      (object "name" (spot-text (spot-name spot))
              "self" (part (spot-self spot))
              "total" (part (spot-total spot))
              "place" (spot-place spot)
              "caller" (and caller (spot-text (car caller)))
              "callerPart" (and caller
                                (< (cdr caller) (spot-total spot))
                                (round (* 100 (cdr caller)) (spot-total spot)))))))

(defparameter *foreign* "foreign function " "SBCL's prefix for the names of foreign functions.")

(defun spot-text (name)
  "Return the text in answers for NAME, the value of the slot NAME of a SPOT structure. NAME is a
debug name or a text."
  (cond ((starts-p name *foreign*) (subseq name (length *foreign*)))
        ((stringp name) name)
        ((evaluated-form-name-p name) "the form")
        ((method-name-p name) (shortened 80 (function-text (list* :method (rest name)))))
        (t (shortened 80 (function-text name)))))

(defun spot-place (spot)
  "Return a JSON object with the source location of the function of SPOT, a SPOT structure. Return
NIL if this location is unknown or in one of SBCL's own files."
  (nil-if-unknown
    (let* ((function (function-of-frame (spot-info spot)))
           (file (code-file (code-of function))))
      (unless (or (null file) (sbcl-file-p file))
        (place-data (introspect "FIND-DEFINITION-SOURCE" function))))))

;;; Counting samples by function

(defun counted-samples (mode)
  "Return three values: a list of SPOT structures for the functions in the samples in which the
program ran, the root of the call tree of these samples, and the number of all samples. MODE is the
mode of the profiler, such as :ALLOC."
  (let* ((spots (make-hash-table :test 'equal)) (graph (make-graph-frame nil))
         (all (map-stacks (lambda (stack) (count-stack stack spots) (count-calls stack graph))
                          mode)))
    (values (loop for spot being the hash-values of spots collect spot) graph all)))

(defun count-stack (stack spots)
  "Count the sample with STACK, a list of SAMPLED-FRAME structures, in SPOTS, a hash table from
names to SPOT structures. If a function is on the stack several times, add only 1 to its
SPOT-TOTAL."
  (loop with counted = '()
        for (frame . inner) on stack
        for caller = nil then name      ; The name of the frame before, so this clause comes first.
        for name = (sampled-frame-name frame)
        for spot = (or (gethash name spots)
                       (setf (gethash name spots) (make-spot name (sampled-frame-info frame))))
        do (unless (member name counted :test #'equal)
             (push name counted)
             (incf (spot-total spot))
             (when caller (count-caller caller spot)))
           (unless inner (incf (spot-self spot)))))

(defun count-caller (name spot)
  "Count a sample in which the function NAME is the caller of the function of SPOT, a SPOT
structure."
  (let ((pair (assoc name (spot-callers spot) :test #'equal)))
    (if pair
        (incf (cdr pair))
        (push (cons name 1) (spot-callers spot)))))

;;; The call tree of the samples

(defparameter *graph-size* 1000 "The maximum number of frames of a call tree in an answer.")

(defun count-calls (stack graph)
  "Count the sample with STACK, a list of SAMPLED-FRAME structures, in the call tree with the root
GRAPH, a GRAPH-FRAME structure."
  (let ((frame graph))
    (incf (graph-frame-samples frame))
    (dolist (sampled stack)
      (setf frame (callee-frame frame (sampled-frame-name sampled)))
      (incf (graph-frame-samples frame)))))

(defun callee-frame (frame name)
  "FRAME is a GRAPH-FRAME structure. Return the GRAPH-FRAME structure for the function NAME among
the callees of FRAME. Add one if there is none."
  (or (find name (graph-frame-callees frame) :key #'graph-frame-name :test #'equal)
      (first (push (make-graph-frame name) (graph-frame-callees frame)))))

(defun graph-rows (graph)
  "Return a list of lists (DEPTH NAME SAMPLES) for the frames below GRAPH, the root of a call tree.
Each frame precedes its callees, and callees with more samples come first. If there are more than
*GRAPH-SIZE* frames, leave out those with the fewest samples."
  (let* ((frames (frames-below graph))
         (counts (sort (mapcar (lambda (row) (graph-frame-samples (second row))) frames) #'>))
         ;; A frame has at least as many samples as each of its callees, so no callee is shown
         ;; without its caller.
         (most-omitted (or (nth *graph-size* counts) 0)))
    (loop for (depth frame) in frames
          for samples = (graph-frame-samples frame)
          when (> samples most-omitted)
            collect (list depth (spot-text (graph-frame-name frame)) samples))))

(defun frames-below (graph)
  "Return a list of lists (DEPTH FRAME) for all frames below GRAPH, the root of a call tree. Each
frame precedes its callees, and callees with more samples come first."
  (let ((rows '()))
    (labels ((add-callees (frame depth)
               (dolist (callee (sort (copy-list (graph-frame-callees frame)) #'>
                                     :key #'graph-frame-samples))
                 (push (list depth callee) rows)
                 (add-callees callee (1+ depth)))))
      (add-callees graph 0))
    (nreverse rows)))

;;; The functions on sampled stacks

(defun map-stacks (visit mode)
  "For each sample in which the program ran, call the function VISIT with a list of SAMPLED-FRAME
structures: the program's functions on the stack, outermost first. MODE is the mode of the profiler.
Return the number of all samples."
  ;; REPORT converts the samples for MAP-TRACES. The report itself is not needed.
  (funcall (profiler "REPORT") :type nil :stream (make-broadcast-stream))
  (let ((samples 0))
    (funcall (profiler "MAP-TRACES")
             (lambda (thread trace)
               (declare (ignore thread))
               (incf samples)
               (let ((part (program-part (stack-of trace) mode)))
                 (when part (funcall visit part))))
             (profiler-value "*SAMPLES*"))
    samples))

(defun stack-of (trace)
  "Return a list of SAMPLED-FRAME structures for TRACE, a sample of SBCL's profiler, outermost
first."
  (let ((stack '()))
    ;; MAP-TRACE-PC-LOCS calls the function for the outermost frame first.
    (funcall (contrib-function "SB-SPROF" "MAP-TRACE-PC-LOCS")
             (lambda (info place)
               (declare (ignore place))
               (push (make-sampled-frame (info-name info) info) stack))
             trace)
    (reverse stack)))

(defun info-name (info)
  "Return the debug name of the function of a frame in a sample, or text that describes the
function. INFO is SBCL's debug information about the frame."
  (cond ((stringp info) info)
        ((null info) "foreign code")
        ((symbolp info) (string-downcase info))
        (t (let ((name (nil-if-unknown (debug-name info))))
             (cond ((null name) "code without a name")
                   ;; SBCL keeps only both ends of a deep stack. It marks the gap between them with
                   ;; a function that is never called.
                   ((eq name (contrib-symbol "SB-SPROF" "UNAVAILABLE-FRAMES"))
                    "frames that SBCL left out")
                   ((dispatch-name-p name) "dispatch of a generic function")
                   (t name))))))

(defun dispatch-name-p (name)
  "Return true if NAME is the debug name of code that SBCL has made to find the methods of a generic
function. Such a name is a LAMBDA whose lambda list has symbols of SB-PCL."
  (and (consp name)
       (eq 'lambda (first name))
       (consp (rest name))
       (some (lambda (package) (string= "SB-PCL" (package-name package)))
             (name-packages (second name)))))

(defun program-part (stack mode)
  "STACK is a list of SAMPLED-FRAME structures, outermost first. Return the part of STACK that
belongs to the program, or NIL if there is none. This part ends before functions of the backend and,
in MODE :ALLOC, before functions of SBCL that allocate."
  (let* ((names (mapcar #'sampled-frame-name stack))
         ;; The role of CALL-USER-CODE. A thread that the program has made does not call it.
         (entry (position :user-code names :key #'frame-role :from-end t))
         (start (if entry
                    (position-if-not #'backend-name-p names :start (1+ entry))
                    (position-if #'program-name-p names))))
    ;; Drop samples of the backend's function SPENT, which reads /proc to measure waiting.
    (when (and start (not (find 'spent names :end start)))
      (let ((end (or (position-if #'backend-name-p names :start start) (length names))))
        (when (eq mode :alloc)
          ;; The names of SBCL's functions that allocate are strings. That at START is none.
          (setf end (1+ (position-if-not #'stringp names :end end :from-end t))))
        (subseq stack start end)))))

(defun program-name-p (name)
  "Return true if the debug name NAME belongs to the program, not to SBCL or the backend."
  (and (not (stringp name))
       (let ((packages (name-packages name)))
         (and (notany #'backend-package-p packages)
              (notany (lambda (package) (string= "SB-SPROF" (package-name package))) packages)
              (or (notevery #'core-package-p packages)
                  ;; Evaluated forms, and forms in a file, have names such as (LAMBDA ()).
                  (and (consp name) (eq 'lambda (first name)) (null (rest packages))))))))

(defun name-packages (name)
  "Return a list of the home packages of the symbols in NAME, a debug name, except KEYWORD."
  (cond ((consp name) (append (name-packages (car name)) (name-packages (cdr name))))
        ((keywordp name) '())
        ((and name (symbolp name) (symbol-package name)) (list (symbol-package name)))))
