;;;; Where the code of a frame stands: in which file, and which form of it.

(in-package "LIVE-LISP.JOBS")

(defun translated (namestring)
  "Return NAMESTRING, of a source file, as a native one; a logical one whose file is not
on this machine stays as it is."
  (let ((path (ignore-errors (probe-file (translate-logical-pathname (parse-namestring namestring))))))
    (cond (path (sb-ext:native-namestring path))
          ((search "SYS:" namestring) namestring)
          (t (or (ignore-errors (sb-ext:native-namestring (parse-namestring namestring))) namestring)))))

(defparameter *quoted-counted* (< 1 (length (form-translations '(quote (a)) 0)))
  "True when this SBCL gives numbers to lists that are quoted, and to commas, as it does since 2.5.11.")

(defun feature-names ()
  "Return the names of the keywords in *FEATURES*, and of other symbols PACKAGE::NAME. One of ours says how forms are
numbered."
  (append (and *quoted-counted* (list "LIVE-LISP::COMMAS-COUNTED"))
          (loop for feature in *features*
                when (symbolp feature)
                  collect (if (keywordp feature) (symbol-name feature) (symbol-text feature)))))

(defun date-of (file)
  "Return the date of FILE, a native name, or NIL when it cannot be known."
  (ignore-errors (file-write-date (sb-ext:parse-native-namestring file))))

(defun changed-p (file created)
  "True when FILE, a native name, was written after CREATED, its date when it was compiled."
  (and file created (not (eql created (date-of file)))))

(defun frame-file (frame)
  "Return the namestring of the file that the code of FRAME is from; NIL when that was evaluated, or is not known."
  (let ((source (ignore-errors (place-source (frame-place frame)))))
    (and source (source-name source))))

(defun root-name (name)
  "Return the symbol by which a top-level form defines the function that SBCL calls NAME, or NIL."
  (let ((outer (and (consp name) (second (member :in name)))))
    (cond ((symbolp name) name)
          ;; What was evaluated while a file was loaded is in the name of that.
          ((and outer (not (stringp outer))) (root-name outer))
          ((typep name '(cons t (cons symbol))) (second name)))))

(defun packed-xrefs (function)
  "Return the packed cross references of the simple FUNCTION, or NIL."
  (let ((xrefs (function-xrefs function)))
    (and (simple-vector-p xrefs) (> (length xrefs) 0) xrefs)))

(defun uses-in (function)
  "Return what the simple FUNCTION uses, as lists of a name, the number of a form, and SBCL's word for the kind of use."
  (let ((uses '()) (xrefs (packed-xrefs function)))
    (when xrefs
      (map-xrefs (lambda (kind used number) (push (list used number kind) uses)) xrefs))
    (nreverse uses)))

(defun own-to-sbcl-p (symbol)
  "True when the package of SYMBOL is one of SBCL's own."
  (let* ((package (symbol-package symbol)) (name (and package (package-name package))))
    (and name (>= (length name) 3) (string= "SB-" name :end2 3))))

(defun told-numbers (uses numbers most)
  "Return names of functions and macros in USES, each with the form number of a use. Those are all at NUMBERS, and MOST
elsewhere that texts can have. They tell whether a text counts its forms as SBCL does: what #. and other reader macros make
or leave out is counted otherwise."
  (let ((told '()) (count 0))
    (loop for (used number kind) in uses
          do (when (and (symbolp used)
                        (plusp number)
                        (member kind '(:calls :macroexpands))
                        (or (member number numbers)
                            (and (< count most)
                                 (not (own-to-sbcl-p used))
                                 (incf count))))
               (setf told (list* (symbol-name used) number told))))
    told))

(defun functions-of-form (frame form)
  "Return the simple functions that are compiled together with the function of FRAME and stand in the top-level form with
the number FORM."
  (let ((code (ignore-errors (function-component (frame-function frame)))))
    (and code
         (loop for index below (code-functions code)
               for function = (code-function code index)
               when (eql form (form-number (compiled-debug (function-debug function)))) collect function))))

(defun call-place (frame)
  "Return where the call in FRAME stands as a property list of members, or NIL."
  ;; What is not known signals a condition of its own.
  (ignore-errors
   (let* ((place (frame-place frame)) (source (place-source place)) (file (source-name source)))
     (when file
       (let* ((file (translated file)) (created (source-date source)) (changed (changed-p file created))
              (name (root-name (debug-name (frame-function frame))))
              (form (ignore-errors (place-top-level-form place)))
              (number (ignore-errors (place-form-number place)))
              (offsets (source-offsets source)))
         (flet ((offset-of (form) (and form (< -1 form (length offsets)) (aref offsets form))))
           (list "file" file
                 "offset" (offset-of form)
                 "end" (and form (offset-of (1+ form)))
                 "form" form
                 "number" number
                 "numbers" (and form number (plusp number)
                                (ignore-errors
                                 (told-numbers (mapcan #'uses-in (functions-of-form frame form)) (list number) 60)))
                 "definition" (and changed name (symbol-text name))
                 "changed" changed
                 "written" (and changed created))))))))
