;;;; Finds the locks that a thread holds, and the lock for which it waits.

(in-package "LIVE-LISP.DEBUG")

(defun lock-name (lock)
  "Return the name of LOCK, a mutex, as text of at most 60 characters."
  (print-safely 60 (or (sb-thread:mutex-name lock) "without a name") "~A"))

(defun allocated-p (word)
  "Return true if WORD, an integer, points to no page of the heap, or below the end of the used
words of its page. Another thread can allocate above it at any time."
  (let ((page (page-index word)))
    (or (minusp page)
        (< (mod word page-octets)
           (* word-octets (ash (or (page-slot page +page-words+) 0) -1))))))

(defun dead-p (word)
  "Return true if WORD, an integer, points to a filler on a page of the heap. What is left there of
a dead object looks like an object, but points to memory that was freed."
  (declare (type (unsigned-byte 64) word))
  (and filler-tag
       (not (minusp (page-index word)))
       (loop with address = (logandc2 word 15) with start = (- word (mod word page-octets))
             for position = start then (+ position (* word-octets size))
             while (<= position address)
             for header = (sb-sys:sap-ref-word (sb-sys:int-sap position) 0)
             for words = (ash header -32)
             ;; A filler ends on its page. Raw data can have such an octet too.
             for filler = (and (= filler-tag (logand header #xFFFFFFFF))
                               (<= 1 words (/ (- (+ start page-octets) position) word-octets)))
             ;; Each object begins at a multiple of two words.
             for size = (if filler (max 2 words) 2)
             thereis (and filler (< address (+ position (* word-octets size)))))))

(defun stack-objects (&optional (wanted-p (constantly t)))
  "Return a list of the objects to which words on the stack of this thread point, from the current
frame to the oldest, up to 4000000 octets. Include words that are left from earlier calls, since the
garbage collector also respects them. WANTED-P is a predicate for the word, an integer."
  (let ((objects '()))
    (when (and this-slot stack-end-slot)
      (let ((thread (thread-slot this-slot)) (here (stack-pointer)))
        (when (plusp (sb-sys:sap-int thread))
          ;; WORD-OBJECT looks for the word in the pages of the heap. A collection in another thread
          ;; would move objects meanwhile, and the result could be no object.
          (sb-sys:without-gcing
            (close-region) ; WORD-OBJECT finds no objects in an open allocation region.
            (loop with end = (- (sb-sys:sap-ref-word thread (* word-octets stack-end-slot))
                                (sb-sys:sap-int here))
                  for offset from 0 below (min end 4000000) by word-octets
                  for word = (sb-sys:sap-ref-word here offset)
                  do (when (and (funcall wanted-p word) (allocated-p word))
                       (multiple-value-bind (object valid) (word-object word nil)
                         ;; The next collection would end the image because of a reference to a
                         ;; dead object.
                         (when (and valid (not (dead-p word)))
                           (push object objects)))))))))
    objects))

(defun locks-of-thread ()
  "Return a list of the names of the mutexes that this thread holds. Search for them on the stack of
the thread, where the code that will release a mutex keeps it."
  (let ((locks '()))
    (dolist (object (stack-objects (lambda (word) (= instance-tag (logand word 15)))))
      (when (and (typep object 'sb-thread:mutex)
                 (eq (sb-thread:mutex-owner object) sb-thread:*current-thread*))
        (pushnew object locks)))
    (mapcar #'lock-name locks)))

(defun awaited-lock (thread)
  "Return a JSON object with the name and the owner of the mutex for which THREAD waits. Return NIL
if it waits for none."
  (let* ((lock (waited-for thread))
         (owner (and (typep lock 'sb-thread:mutex) (sb-thread:mutex-owner lock))))
    (when (typep lock 'sb-thread:mutex)
      (object "name" (lock-name lock)
              "owner" (and (typep owner 'sb-thread:thread) (short-thread-name owner))))))
