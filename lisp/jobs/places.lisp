;;;; Finds the source place of a frame: the file, and the form in the file.

(in-package "LIVE-LISP.JOBS")

(define-shape form-place ()
  "A top-level form of a source file."
  (file string :optional)
  (form integer :optional "The number of the top-level form in the file, counted from 0.")
  (changed boolean :optional "True when the file has been written since it was compiled.")
  (written integer :optional
   "Write date (universal time) of the source file when it was compiled, if the file has changed
   since.")
  (mark string :optional
   "The mark of the text that was loaded, if the image has kept it: the digest of its octets,
   unless its forms can be others under the present features.")
  (latest string :optional "The mark of the text that was loaded last, if it is another one.")
  (undated boolean :optional
   "True when it is not known which version of the source file was compiled."))

(define-shape place (form-place)
  "A place in a source file: a top-level form, or a list within this form."
  (offset integer :optional "The octet at which the top-level form begins.")
  (start integer :optional
   "Start and end of the list within the form, in characters from the start of the file as it was
   compiled.")
  (end integer :optional)
  (inside boolean :optional
   "True when the place is a list within the form, at an unknown position.")
  (method string :optional) (description string :optional)
  (by-code boolean :optional
   "True when SBCL keeps no source of the definition, and code that the form ran made it.")
  (maker string :optional
   "The file whose code made the definition, when neither SBCL nor the backend knows the form.")
  (evaluated evaluated :optional "The evaluation that made the method, when no file did."))

(defun translated (namestring)
  "Return the native name of the source file NAMESTRING. If NAMESTRING is a logical name of a file
of SBCL, such as SYS:SRC;CODE;EVAL.LISP, and this machine does not have the file, return
NAMESTRING."
  (let ((path (nil-if-unreadable
                (probe-file (translate-logical-pathname (parse-namestring namestring))))))
    (cond (path (sb-ext:native-namestring path))
          ((search "SYS:" namestring) namestring)
          (t (or (native-name namestring) namestring)))))

(defun changed-p (file created)
  "Return true if the write date of FILE, a native name or NIL, differs from CREATED, its write date
when it was compiled."
  (and file created (not (eql created (date-of file)))))

(sb-ext:defglobal **version-as-loaded** nil
  "NIL, or a function of the native truename of a file and the write date of a loaded version. A
date of NIL means the version loaded last. The function returns three values, each NIL if it is
unknown: the date of the version, the mark of its text, which is a short string that identifies the
text, and the mark of the text loaded last if that is another one.")

(defun version-members (file created now)
  "Return a plist of some JSON members for a source place in FILE, a native name. They say in which
version of FILE the place is, and whether FILE has changed since: \"changed\", \"written\",
\"undated\", \"mark\" and \"latest\" (see FORM-PLACE). CREATED is the write date of that version, or
NIL for the version that was loaded last. NOW is the current write date of FILE, or NIL if it is
unknown."
  (multiple-value-bind (date mark latest)
      (if **version-as-loaded** (funcall **version-as-loaded** file created) created)
    (let ((changed (and date (not (eql date now)))))
      (list "changed" changed "written" (and changed date) "undated" (null date)
            "mark" mark "latest" latest))))

(defun loaded-place (file form)
  "Return a JSON object with the place of the top-level form with number FORM in FILE, a native
truename, in the version that was loaded last."
  (make-json-object
   (list* "file" file "form" form (version-members file nil (date-of file)))))

(defun frame-file (frame)
  "Return the namestring of the source file of the code of FRAME. Return NIL if the code comes from
no file or the file is unknown."
  (let ((source (nil-if-unknown (place-source (frame-place frame)))))
    (and source (source-name source))))

(defun root-name (name)
  "Return the symbol that names the outermost definition around the function with the debug name
NAME. For (FLET X :IN FOO), this is FOO. Return NIL if there is none."
  (let ((outer (and (consp name) (second (member :in name)))))
    (cond ((symbolp name) name)
          ;; In the debug name of code that was evaluated during a load, the name of the file
          ;; follows :IN.
          ((and outer (not (stringp outer))) (root-name outer))
          ((typep name '(cons t (cons symbol))) (second name)))))

(defun packed-xrefs (function)
  "Return the packed cross references of FUNCTION, a SIMPLE-FUNCTION, or NIL if it has none."
  (let ((xrefs (function-xrefs function)))
    (and (simple-vector-p xrefs) (> (length xrefs) 0) xrefs)))

(defun uses-in (function)
  "Return a list of the cross references of FUNCTION, a SIMPLE-FUNCTION. Each is a list (NAME FORM
KIND): the name that is used, the number of the form that uses it, and the kind of use, such as
:CALLS."
  (let ((uses '()) (xrefs (packed-xrefs function)))
    (when xrefs
      (map-xrefs (lambda (kind used number) (push (list used number kind) uses)) xrefs))
    (nreverse uses)))

(defun form-offset (offsets form)
  "Return the octet offset of the top-level form with number FORM, or NIL if it is unknown. OFFSETS
is SBCL's vector of the offsets of all top-level forms of the file."
  (and form (< -1 form (length offsets)) (aref offsets form)))

(defun form-of-file (place source)
  "Return the number of the top-level form that contains PLACE, a code location. SOURCE is the debug
source of the code. Return NIL if the code is from no file, or if the number is unknown."
  ;; For code without a file, SBCL would signal an error here, and a watch for errors would record
  ;; this error.
  (unless (and (typep source 'core-source) (source-form source))
    (nil-if-unknown (place-top-level-form place))))

(defun call-place (frame)
  "Return a plist of JSON members with the place of the call that FRAME is executing. Return NIL if
the file of its code is unknown."
  (nil-if-unknown
    (let* ((place (frame-place frame)) (source (place-source place)) (file (source-name source)))
      (when file
        (let* ((file (translated file)) (created (source-date source))
               (name (root-name (debug-name (frame-function frame))))
               (form (form-of-file place source))
               (number (nil-if-unknown (place-form-number place)))
               (offsets (source-offsets source)))
          (list* "file" file
                 "offset" (form-offset offsets form)
                 "form" form
                 "definition" (and (changed-p file created) name (symbol-text name))
                 (append (version-members file created (date-of file))
                         (span-members file created form number offsets))))))))
