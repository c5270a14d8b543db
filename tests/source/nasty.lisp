;;; ← Every construct that the reader gives a meaning, in a file that SBCL can read. 😀

(in-package :position-oracle) ; a comment (with a list)

#| a block (comment) #| nested |# still (a comment) |#
(defun plain (x y)
  "A string (with \"parens\" and ; and |"
  (list (first x) (second (cons y '(quoted (list))))))

(empty () (()) ( ) ( ; nothing
 ) ( #| |# ) ( #+no-such-feature (a b) ) (nil))

(quotes 'a '(a (b)) (b) (list 'c (d)) (e quote (f) (g)) (h cl:quote (i)) (j common-lisp::quote (k)) (l))
(not-quote |quote| (a) (:quote (b)) (#:quote (c)) (keyword:quote (c)) (|QUOTE| (d)) (qu\OTE (e)) (q\uote (f)))
(ｑｕｏｔｅ (a) (b)) (cl:quote (a)) (quote (a))
'(a (b)) (after)
''(a) '''a (x ''(b) (c))
(functions #'car #'(lambda (x) (list x)) #'(setf foo) (a))
#'(lambda () (list (a)))
(a #'b #'#'c '#'d #''e (f))

`(a (b) ,c ,(d e) ,@(f (g)) ,.(h) ,'(i) ,`(j ,(k)) (l))
`(a `(b ,(c ,(d) ,'(e)) ,,(f) ,@,(g) ,',@(h)) (i))
`(a . ,(b)) `(a (b) . ,(c)) `,(a (b)) ``,',(a (b)) (x `,(y (z)))
`#(a ,(b) (c)) `(x #(a ,(b) ,@(c)) (d)) `(,quote (a) (b)) `(a , (b) ,
 ;; between
 (c))
`(a . `(b ,(c ,(d)))) (a . 'b) (a (b) . '(c)) (a . #'(lambda (b) (c))) (a . `(b (c)))

(vectors #(1 (2) 3) (a) #3((b)) (c) #() #0() (d) #((e) #((f)) '(g)) (h))
(structures #S(point :x 1 :y (2 (3))) (a) #s(point) (b))
(arrays #2A((1 2) (3 4)) (a) #0A(b) (c) #1a((d) (e)) (f) #A((2) t (g) (h)) (i))
(numbers #C(1 2) (a) #c(1.5 2) (b) #b101 (c) #o17 (d) #xFf (e) #36rZZ (f) #*101 (g) #8*1 (h) #* (i) #x1F (j))
(paths #P"/tmp/(" (a) #p"x" (b))
(characters #\( (a) #\) (b) #\; (c) #\" (d) #\' (e) #\Space (f) #\| (g) #\\ (h) #\# (i) #\😀 (j) #\newline(k) #\a(l))
(symbols #:a (a) #:|x (| (b) |a (b| (c) a\(b (d) a\ b (e) |a\|(| (f) a|(|b (g) a#(b) (h) a#|b (c)|(i) |😀|(j))
(packages cl:car (a) cl-user::x (b) cl-user::(c (d)) (cl-user::e (f)) :key (g) cl::'(car) (i))
(strings "" (a) "\\" (b) "\"" (c) "
(d)" (e) "😀"(f)"#|"(g)"|#")
(dotted (a . b) (a . (b (c))) (a .(b)) (a . nil) (a . ()) (a .b (c)) (a \. (b)) (a . #+no-such-feature c b)
        (a . b #+no-such-feature c) (a |.| (b)) (a . "b") (a .5 (b)) (a . ((b) . (c))))

#+sbcl (kept (a)) #-sbcl (removed (a)) #+no-such-feature (removed (b)) #-no-such-feature (kept (b))
(features #+sbcl (a) #-sbcl (b) #+(or) (c) #+(and) (d) #-(or) (e) #+(and sbcl (not ccl)) (f)
          #+(or ccl (and :sbcl (:not :no-such-feature))) (g) #+ (and sbcl clisp) (h) #+SbCl (i)
          #+|sbcl| (j) #+:sbcl (k) #+keyword:sbcl (l) #+cl-user::sbcl (m) (o))
(nested-features #+sbcl #-ccl (a) #+ccl #+sbcl (b) (c) (d) #+ccl #+ccl (e) (f) (g)
                 #+(or ccl #+ccl sbcl #-ccl sbcl) (h) '#+ccl (i) (j) (x . #+ccl (k) (l)) #-sbcl #.(error "no") (m))
(suppressed #+ccl foo::(a) #+ccl ccl:x (b) #+ccl #1=(c) (d) #+ccl #b(e) (f) #+ccl #\( (g) #+ccl #2# (h)
            #+ccl #S(nothing :a (1)) (i) #+ccl (#!+(or feat) a b) (j) #+ccl (a . b (c)) (k) #+ccl "(" (l)
            #+ccl #(a . (b)) (m) #+ccl #'(n) (o) #+ccl '(p) (q) #+ccl |(| (r) #+ccl (#1=(s) #1# #:t #*9) (u)
            #+ccl #.(v) (w) #+ccl #P(x) (y) #+ccl #C(z) (a) #+ccl #2A(b) (c) #+ccl `(d ,(e)) (f) #+ccl ... (g))

(labels-shared #1=(a (b)) #1# (c #1#) (d))
(labels-quoted '#1=(a (b)) (c) #1# (d))
(labels-in-vector #(#1=(a (b)) (c)) (d) #1# (e))
(labels-in-structure #S(point :x #1=(a) :y (b)) #1# (c))
(labels-circular #1=(a (b) . #1#) (c) #2=(d #2# (e)) (f) #3=#(g #3#) (h) #4=(i j k . #4#) (l))
(labels-tail (a . #1=((b) (c))) (d . #1#) #1# (e))
(labels-order '(#1=(x (y)) #2=(z #1#)) (a . #2#) #1#)
#1=(top (a) . #1#)
#1=(top #1# (a))
`(labels-comma ,#1=(a (b)) #1# ,@#1# (c))
(label-space #1= (a) #1# (b) #10=(c) #10# #1# (d) #2='(e) #2# #3=#'(lambda (f)) #3# (g))
(labels-expand #1=quote (a) (b)) (x #1=(quote (a)) (b #1#))

(read-eval #.(+ 1 2) (a) #.(list) (b) #."x" (c))
atom (after-atom (a)) "string" :key #\x #(v (e)) (after-atoms (b)) 12 #C(1 2) (c (d))()(e)	(tab (f))
(((((deep (er)) (a)) (b)) (c)) (d))
(lambda (x) (declare (type (or null fixnum) x)) (if x (+ x 1) (let ((y 2) (z)) (list y z))))
(returns
 (a) (b))(form feed)
(last form without a newline (at the end))