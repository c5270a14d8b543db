;;;; A tool for a project with a web server: the routes of a Hunchentoot application, in the order in which they are
;;;; tried. Load it with --init; the application can be loaded later.

(defpackage "ROUTES"
  (:use "COMMON-LISP" "LIVE-LISP"))

(in-package "ROUTES")

(defun hunchentoot (name)
  "Return the symbol NAME of Hunchentoot, which need not be loaded when this file is; NIL without it."
  (let ((package (find-package "HUNCHENTOOT")))
    (and package (find-symbol name package))))

(defun qualified (handler)
  "Return the name of HANDLER, a symbol or a function, with its package."
  (let ((name (if (functionp handler) (sb-kernel:%fun-name handler) handler)))
    (if (symbolp name)
        (format nil "~A::~A" (package-name (or (symbol-package name) "KEYWORD")) name)
        (let ((*print-pretty* nil)) (prin1-to-string name)))))

(defun parameters (handler)
  "Return what requests can give the easy handler HANDLER, a symbol, as one text."
  (let ((keywords (rest (member '&key (and (fboundp handler)
                                           (sb-kernel:%fun-lambda-list (fdefinition handler)))))))
    (format nil "~{~(~A~)~^ ~}" (loop for each in keywords
                                      unless (member each lambda-list-keywords)
                                        collect (if (consp each) (first each) each)))))

(defun easy-routes ()
  "Return the routes of DEFINE-EASY-HANDLER."
  (loop for (uri nil handler) in (symbol-value (hunchentoot "*EASY-HANDLER-ALIST*"))
        collect (list (if (stringp uri) uri (format nil "(when ~A is true)" (qualified uri)))
                      "easy handler" (qualified handler) (parameters handler))))

(defun dispatcher-route (dispatcher)
  "Return the route of DISPATCHER, a function. Those that Hunchentoot makes close over a
handler and what they compare with: a text, or a regular expression that does not tell its source."
  (let* ((held (and (sb-kernel:closurep dispatcher) (sb-kernel:%closure-values dispatcher)))
         (where (find-if (lambda (each) (or (stringp each) (pathnamep each))) held))
         ;; A regular expression is held as a function too.
         (handler (or (find-if (lambda (each) (and each (symbolp each))) held) (find-if #'functionp held))))
    (list (if where (princ-to-string where) "(decided by code)")
          "dispatcher" (qualified (or handler dispatcher)) "")))

(defun routes ()
  "Return all routes: lists of address, kind, handler and parameters."
  (loop for dispatcher in (symbol-value (hunchentoot "*DISPATCH-TABLE*"))
        append (if (member dispatcher (list (hunchentoot "DISPATCH-EASY-HANDLERS")
                                            (fdefinition (hunchentoot "DISPATCH-EASY-HANDLERS"))))
                   (easy-routes)
                   (list (dispatcher-route dispatcher)))))

(defun matching-routes (part)
  "Return the routes whose address has PART in it; all when PART is NIL."
  (remove-if-not (lambda (route) (or (null part) (search part (first route) :test #'char-equal))) (routes)))

(register-tool *agent-q-registry*
  (define-tool "list_routes"
    "List the routes of the web application in the image, in the order in which they are tried: address, kind, handler, parameters. The application is one of Hunchentoot."
    '((:name "containing" :type :string :description "Only routes with this in their address, for example /api/"))
    :safety-level :safe
    :categories '(:introspection)
    :handler (lambda (arguments)
               (if (hunchentoot "*DISPATCH-TABLE*")
                   (matching-routes (gethash "containing" arguments))
                   ;; A second value that is a string says that the call failed.
                   (values nil "Hunchentoot is not loaded; load the application first, with load_system.")))))
