;;;; Compiles a file of the user, and loads its fasl.
;;;;
;;;; These names mean the same everywhere here. FILE is the user's file, which SBCL records as the
;;;; source of the definitions. SOURCE is the file that the compiler reads: FILE or COPY. COPY is a
;;;; file in a temporary folder with the text to load. A copy is needed if the image cannot read
;;;; FILE, or if only some forms of FILE are loaded.

(in-package "LIVE-LISP.EVALUATE")

(defun found-name (file)
  "Return the truename of FILE, a pathname designator, or the pathname of FILE if no such file
exists."
  (or (true-file file) (pathname file)))

(defun true-name (file)
  "Return the truename of FILE, a pathname designator, as a native namestring. If no such file
exists, return the name of FILE."
  (sb-ext:native-namestring (found-name file)))

(defun call-in-folder-of (file function)
  "Call FUNCTION and return its values. Make sure that the directory of FILE, a pathname, exists
meanwhile. If it did not exist, because the image does not see the server's files, delete it with
its contents afterwards."
  (multiple-value-bind (name made) (ensure-directories-exist file)
    (declare (ignore name))
    (unwind-protect (funcall function)
      (when made
        (nil-if-unreadable
          (sb-ext:delete-directory (make-pathname :name nil :type nil :version nil :defaults file)
                                   :recursive t))))))

(defun copy-in-folder (fasl source content)
  "Write CONTENT, a string with one character for each octet, to a file that has the name of SOURCE
and is in the folder of FASL. Return the pathname of this file."
  (let ((copy (make-pathname :name (pathname-name source) :type (pathname-type source) :version nil
                             :defaults fasl)))
    (with-open-file (stream copy :direction :output :if-exists :supersede :external-format :latin-1)
      (write-string content stream))
    copy))

(defun give-date (copy date)
  "Set the write date of the file COPY to DATE, a universal time. The compiler records this date as
that of the source."
  (let ((seconds (unix-time date)))
    (sb-alien:with-alien ((times (array sb-alien:long 2)))
      (setf (sb-alien:deref times 0) seconds
            (sb-alien:deref times 1) seconds)
      (sb-alien:alien-funcall
       (sb-alien:extern-alien "utime"
                              (function sb-alien:int sb-alien:c-string (* (array sb-alien:long 2))))
       (sb-ext:native-namestring copy) (sb-alien:addr times)))))

(defun call-compiling-as (file copy function)
  "Call FUNCTION, which compiles COPY, and return its values. SBCL then records FILE as
the source file of the compiled code, also of code that is compiled while COPY is loaded. SBCL
records a date with FILE. This is the write date of FILE, or a later one if a loaded version with
another text has that date. If FILE does not exist, the date is later than that of the version that
was loaded before."
  (let* ((written (date-of (pathname file)))
         (date (if written
                   (version-date (true-name file) written
                                 (or (and *part-load* (part-load-whole *part-load*))
                                     (read-text file)))
                   (max (file-write-date copy) (1+ (or (loaded-date (true-name file)) 0))))))
    (give-date copy date)
    (with-compilation-unit (:source-namestring (namestring (found-name file))
                            :source-plist (list :live-lisp-date date))
      (let ((*file-of-copy* (cons (true-name copy) (true-name file))))
        (funcall function)))))

(defun compile-part (copy fasl file)
  "Compile COPY into FASL as if it were FILE, and return the values of COMPILE-FILE. COPY contains
some of the forms of FILE at the same positions. FILE itself is not read, and may be missing."
  (call-compiling-as file copy (lambda () (compile-source copy fasl))))

(defun load-compiled (fasl source)
  "Load FASL, which was compiled from SOURCE. Bind *LOAD-TRUENAME* to the truename of the user's
file, even if SOURCE is a copy of that file, because the program may find other files by it."
  (let ((file (if *source-copy*
                  (sb-ext:parse-native-namestring (cdr *source-copy*))
                  source)))
    ;; Call CALL-USER-CODE innermost, because all frames newer than its own count as frames of the
    ;; user.
    (call-user-code
     (lambda ()
       (with-open-file (stream fasl :element-type '(unsigned-byte 8))
         (let ((*package* *package*) (*readtable* *readtable*)
               (*load-pathname* (pathname file)) (*load-truename* (found-name file)))
           (load-fasl stream nil nil)))))))
