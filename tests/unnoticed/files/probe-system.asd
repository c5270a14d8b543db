(defsystem "probe-system" :components ((:file "probe-system")))
