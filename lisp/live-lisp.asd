;;;; The backend of live-lisp: the part of the server that runs in the Lisp image. The server loads
;;;; it by boot.lisp, which reads the list of files here. A Lisp programmer loads it by ASDF, to
;;;; work on it in SLIME or SLY, and to run its tests.

(defsystem "live-lisp"
  :description "Answers an MCP server's questions about a running Common Lisp image."
  :license "MIT"
  :depends-on ("live-lisp/internals" "sb-posix" "sb-introspect" "sb-cltl2")
  ;; A folder is a package. A file uses only names from files before it.
  :serial t
  :components
  ((:module "base"
    :serial t
    :components
    ((:file "package") (:file "or-nil") (:file "sbcl") (:file "sbcl-code") (:file "sbcl-definitions")
     (:file "sbcl-observe") (:file "sbcl-system") (:file "sbcl-uses") (:file "probes")
     (:file "backend-names") (:file "json") (:file "shapes") (:file "capture") (:file "stack")
     (:file "printing") (:file "hooks") (:file "wrapping") (:file "wire")))
   (:module "jobs"
    :serial t
    :components
    ((:file "package") (:file "begun") (:file "readtables") (:file "session") (:file "asdf")
     (:file "spans") (:file "places") (:file "frames") (:file "near") (:file "conditions")
     (:file "hold") (:file "features") (:file "changes") (:file "jobs") (:file "interrupts")
     (:file "unhandled") (:file "streams") (:file "run-job") (:file "threads")
     (:file "main-thread") (:file "operations")
     (:file "styles") (:file "warnings") (:file "ids") (:file "locals")
     (:file "difference") (:file "status")))
   (:module "guard"
    :serial t
    :components
    ((:file "package") (:file "address-space") (:file "threads")
     (:file "collection")
     (:file "memory") (:file "leave") (:file "stop")))
   (:module "look"
    :serial t
    :components
    ((:file "package") (:file "natures") (:file "names") (:file "function-names")
     (:file "name-index") (:file "apropos") (:file "code") (:file "users")
     (:file "code-objects") (:file "runs") (:file "walk") (:file "top-forms") (:file "reread")
     (:file "loads") (:file "uses") (:file "index") (:file "sites") (:file "systems")
     (:file "rows") (:file "xref") (:file "describe") (:file "arglist") (:file "packages")
     (:file "classes") (:file "hierarchy") (:file "dispatch") (:file "combination")
     (:file "ranked") (:file "unused") (:file "class-impact") (:file "removal")
     (:file "compiled-in") (:file "impact") (:file "crowding")))
   (:module "sources"
    :serial t
    :components
    ((:file "package") (:file "definitions") (:file "recording") (:file "texts") (:file "items")
     (:file "files") (:file "loaded-texts") (:file "old-definitions") (:file "parts")
     (:file "users") (:file "noted") (:file "changes") (:file "form-names") (:file "gone")
     (:file "guarding")
     (:file "loads") (:file "needs") (:file "forget")
     (:file "compare") (:file "displaced") (:file "disk") (:file "inventory") (:file "naming")
     (:file "renaming") (:file "experiment")))
   (:module "journal"
    :serial t
    :components
    ((:file "package") (:file "effects") (:file "settings")
     (:file "assignments") (:file "journal") (:file "replay")))
   (:module "evaluate"
    :serial t
    :components
    ((:file "package") (:file "evaluate") (:file "systems") (:file "scripts") (:file "sections")
     (:file "compiled-files") (:file "load") (:file "load-system")
     (:file "system-files") (:file "undo") (:file "compile") (:file "expand") (:file "check")
     (:file "probe")))
   (:module "debug"
    :serial t
    :components
    ((:file "package") (:file "locks") (:file "held") (:file "holding") (:file "leaving") (:file "actions")
     (:file "operations") (:file "threads") (:file "watch") (:file "parts")
     (:file "holders") (:file "inspect")))
   (:module "observe"
    :serial t
    :components
    ((:file "package") (:file "recording") (:file "observed") (:file "probes") (:file "calls") (:file "types")
     (:file "tables") (:file "samples") (:file "heap") (:file "timing") (:file "operation")))
   (:module "tests"
    :serial t
    :components
    ((:file "package") (:file "plan") (:file "frameworks") (:file "measured") (:file "coverage")
     (:file "coverage-data")
     (:file "texts") (:file "difference") (:file "results") (:file "checks") (:file "fiveam")
     (:file "rt") (:file "parachute") (:file "rove") (:file "lisp-unit2") (:file "prove")
     (:file "operations")))
   (:module "tools"
    :serial t
    :components
    ((:file "package") (:file "crossing") (:file "call-tool") (:file "tools") (:file "registry")
     (:file "run-tool")))
   (:file "main"))
  :in-order-to ((test-op (test-op "live-lisp/tests"))))

(defsystem "live-lisp/internals"
  :description "Finds the internals of this SBCL that the backend can use and is compiled for."
  :depends-on ("sb-posix")
  :serial t
  :components ((:file "internals") (:file "probed")))

(defsystem "live-lisp/attached"
  :description "Serves an image that somebody else runs, on a Unix socket."
  :depends-on ("live-lisp" "sb-bsd-sockets")
  :components ((:file "attached")))

(defsystem "live-lisp/tests"
  :description "Tests of the backend that need no server. They are in the repository only."
  :depends-on ("live-lisp" "sb-rt")
  :pathname "../tests/lisp/"
  :serial t
  :components ((:file "package") (:file "base") (:file "jobs") (:file "look") (:file "sources"))
  :perform (test-op (operation system)
             (unless (symbol-call "LIVE-LISP-TESTS" "RUN")
               (error "Tests of live-lisp failed."))))
