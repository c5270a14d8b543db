(defsystem "probe-tests"
  :depends-on ("fiveam")
  :components ((:file "probe-tests"))
  :perform (test-op (o s) (symbol-call "FIVEAM" "RUN!" (find-symbol* "PROBES" "PROBE-TESTS"))))
