;;;; Describes the coverage of a test run: the definitions that tests have reached, and the parts of
;;;; these definitions that never ran.

(in-package "LIVE-LISP.TESTS")

(define-wire-type part-place (or (tuple) (tuple integer integer &optional integer))
  "The place of a subform in a file: `start`, `end` and, for an atom, `before`. It is empty when the
  place is unknown. `start` and `end` are positions in characters. For a list, they are where the
  list begins and ends. The image knows only the places of lists. So for an atom, `end` is where the
  list around it ends, and `before` is the number of atoms between `start` and this atom.")

(define-shape measured-definition (place)
  "A function whose coverage is measured. It is in the top-level form number `form` of `file`;
  `start` and `end` are as in Place."
  (name string) (file string) (form integer) (reached boolean :optional)
  (never (list part-place) :optional "The subforms that never ran."))

(define-shape coverage-data ()
  "Which definitions the tests ran."
  (definitions (list measured-definition) :optional)
  (missed integer :optional "How many definitions could not be measured."))

(defun coverage-data (covering)
  "Return the coverage measured with COVERING, a COVERING structure, as a JSON object."
  (let ((tables (loop for record in (covering-records covering)
                      collect (cons (file-record-file record)
                                    (parts-never-run record (covering-forms covering))))))
    (flet ((never (definition)
             (let ((table (cdr (assoc (measured-file definition) tables :test #'equal))))
               (and table
                    (measured-reached definition)
                    (destructuring-bind (form . spans)
                        (gethash (list (measured-file definition) (measured-form definition))
                                 (covering-forms covering))
                      (places-never-run definition (gethash (measured-form definition) table)
                                        form spans))))))
      (object "missed" (covering-missed covering)
              "definitions" (loop for definition across (covering-definitions covering)
                                  for file = (measured-file definition)
                                  collect (make-json-object
                                           (list* "name" (name-text (measured-name definition))
                                                  "file" file
                                                  "form" (measured-form definition)
                                                  "start" (first (measured-span definition))
                                                  "end" (second (measured-span definition))
                                                  "reached" (measured-reached definition)
                                                  "never" (never definition)
                                                  (version-members file nil (date-of file)))))))))

;;; The parts that never ran

(defun parts-never-run (record forms)
  "RECORD is the FILE-RECORD structure of a file, and FORMS the hash table in the slot FORMS of a
COVERING structure. Return a hash table from the numbers of the file's top-level forms to lists of
paths. The paths in a list lead to those parts of the form that never ran. A path is a list of
element numbers."
  (let ((marked (marked-parts (file-record-codes record))) (table (make-hash-table)))
    (loop for (part . state) in (file-record-parts record)
          unless (or (eq state t) (gethash part marked))
            do (let* ((number (first (last part)))
                      (key (list (file-record-file record) number))
                      (within (if (symbolp (first part))
                                  (constant-branch part (first (gethash key forms)))
                                  (rest (reverse part)))))
                 (when within (push within (gethash number table)))))
    table))

(defun marked-parts (codes)
  "CODES is a list of elements of COVERAGE-INFO, for code that records which of its parts run.
Return a hash table whose keys are the parts that have run."
  (let ((marked (make-hash-table :test 'equal)))
    (dolist (code (mapcan #'marking-code codes) marked)
      (dolist (parts (and (marks-reader) (funcall (marks-reader) code)))
        (dolist (part parts) (setf (gethash part marked) t))))))

(defun constant-branch (part form)
  "PART is SB-COVER's record of a branch of an IF, in FORM, a top-level form. The branch never ran.
If the branch is an atom, return the path of the atom in FORM, a list of element numbers. If it is a
list, return NIL, since SB-COVER has another record for the list itself."
  (destructuring-bind (kind &optional test &rest around) part
    (let* ((elements (rest (reverse around)))
           (choice (reduce (lambda (form element)
                             (and (listp form)
                                  (handler-case (nth element form) (type-error () nil))))
                           elements
                           :initial-value form))
           (element (if (eq kind :then) 2 3)))
      (and (consp choice)
           (eq 'if (first choice))
           (eql 1 test)
           (nthcdr element choice)
           (atom (nth element choice))
           (append elements (list element))))))

;;; The places of parts in their files

(defun places-never-run (definition paths form spans)
  "DEFINITION is a MEASURED structure, and FORM its top-level form. PATHS is a list of paths, one
for each part of FORM that never ran. A path is a list of element numbers, from the outside in.
SPANS is the SPANS vector of FORM, or NIL. Return a list of vectors, one for each of these parts
that is in DEFINITION: the position of the part, such as #(START END), or #() if the position is
unknown."
  (let ((part (measured-part definition))
        (numbers (and spans (form-numbers form (measured-form definition)))))
    (loop for path in paths
          when (eql (length part) (mismatch part path))
            collect (coerce (and spans (part-place path form spans numbers)) 'vector))))

(defun part-place (part form spans numbers)
  "Return the position in its file of a part of FORM, a top-level form, or NIL if it is unknown.
PART: the path of the part, a list of element numbers from the outside in.
SPANS: the SPANS vector of FORM.
NUMBERS: the value of FORM-NUMBERS for FORM.
The position of a list is (START END). The position of an atom is (FROM END COUNT). FROM is the end
of the list before the atom, or else the place after the opening parenthesis. COUNT is the number of
atoms from FROM to the atom, and END the end of the list around it. In (f (g) a b), with (g) at 3 to
6, the atom b has (6 11 1)."
  (let ((around nil) (found form) (element (first (last part))))
    (dolist (each part) (setf around found found (nth each found)))
    (flet ((span (list)
             (let ((path (gethash list numbers))) (and path (list-span spans (second path))))))
      (if (consp found)
          (span found)
          (let* ((own (span around))
                 (before (position-if #'consp around :end element :from-end t))
                 (last (if before (span (nth before around)) (and own (list 0 (1+ (first own)))))))
            ;; For a list without a recorded position, SPAN returns the position of the list around
            ;; it. Then LAST does not say where the atom is.
            (and own last (< (second last) (second own))
                 (list (second last) (second own) (- element (if before (1+ before) 0)))))))))
