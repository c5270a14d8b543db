;;; live-lisp.el --- Watch and approve what agents do in your Lisp image -*- lexical-binding: t -*-

;; Author: The live-lisp authors
;; URL: https://github.com/live-lisp/live-lisp
;; Version: 0.1.0
;; Package-Requires: ((emacs "27.1"))
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; `live-lisp-mode' makes each image to which SLIME or SLY connects serve live-lisp, so that agents can work in it, and
;; connects Emacs to the live-lisp servers of these agents.  The buffer *live-lisp* then shows each call, and Emacs too asks
;; you about calls that need your approval.  Commands:
;;
;;   M-x live-lisp-mode       turns all of this on or off
;;   M-x live-lisp-attach     makes the image of the current SLIME or SLY connection serve
;;   M-x live-lisp-stop       takes live-lisp out of that image
;;   M-x live-lisp-images     shows the images that serve, and the servers that Emacs is connected to
;;   M-x live-lisp-log        shows the buffer *live-lisp*
;;   M-x live-lisp-questions  shows the oldest open question
;;
;; Questions and calls come from the server, over a Unix socket that only you can open, and never through the image.

;;; Code:

(require 'diff-mode)
(require 'json)
(require 'subr-x)

(defgroup live-lisp nil
  "Watch and approve what agents do in your Lisp image."
  :group 'lisp)

(defcustom live-lisp-attach-images t
  "Whether `live-lisp-mode' makes each image of SLIME or SLY serve.
This is your consent: agents that work in the folder of the image then use it."
  :type 'boolean)

(defcustom live-lisp-log-lines 5000
  "Maximum number of lines in the buffer *live-lisp*."
  :type 'integer)

(defconst live-lisp--attach-file
  (expand-file-name "../lisp/attach.lisp" (file-name-directory (or load-file-name buffer-file-name)))
  "The file that makes an image serve when it is loaded there.")

(defconst live-lisp--interval 2
  "Seconds between two looks for servers that have started.")

;;; The image of SLIME or SLY

(defun live-lisp--evaluate (form then)
  "Evaluate FORM in the image of the connection, and call THEN with the value.
This needs a thread of its own: it waits for no REPL and no debugger."
  (cond ((and (fboundp 'sly-connected-p) (sly-connected-p))
         (defvar sly-current-thread)
         (let ((sly-current-thread t)) (sly-eval-async form then)))
        ((and (fboundp 'slime-connected-p) (slime-connected-p))
         (defvar slime-current-thread)
         (let ((slime-current-thread t)) (slime-eval-async form then)))
        (t (user-error "Neither SLIME nor SLY is connected to an image: start one with M-x slime or M-x sly"))))

(defun live-lisp--namestring (file)
  "Return FILE as SBCL reads it, in which some characters mean more."
  (replace-regexp-in-string "[[\\*?]" "\\\\\\&" file))

(declare-function slime-eval-async "slime")
(declare-function slime-connected-p "slime")
(declare-function sly-eval-async "sly")
(declare-function sly-connected-p "sly")

;;;###autoload
(defun live-lisp-attach ()
  "Make the image of the current SLIME or SLY connection serve live-lisp."
  (interactive)
  (live-lisp--evaluate `(cl:load ,(live-lisp--namestring live-lisp--attach-file))
                       (lambda (_) (message "live-lisp: this image serves now"))))

(defun live-lisp-stop ()
  "Take live-lisp out of the image of the current SLIME or SLY connection."
  (interactive)
  (live-lisp--evaluate '(cl:if (cl:find-package "LIVE-LISP")
                               (cl:progn (cl:funcall (cl:intern "STOP" "LIVE-LISP")) t)
                               nil)
                       (lambda (served)
                         (message (if served
                                      "live-lisp: this image does not serve any more"
                                    "live-lisp: this image did not serve")))))

(defvar live-lisp-mode)

(defun live-lisp--connected ()
  "Make a new connection's image serve, if the user wants that."
  (when (and live-lisp-mode live-lisp-attach-images) (live-lisp-attach)))

;;; Servers

(defvar live-lisp--servers '()
  "The connections to servers, which are processes of Emacs.")

(defun live-lisp--folder ()
  "Return the folder in which images that serve are found."
  (file-name-as-directory
   (or (getenv "LIVE_LISP_SERVING")
       ;; The home by the user database: HOME can be another one in the agent's client.
       (expand-file-name ".cache/live-lisp/serving" (concat "~" (user-login-name (user-uid)))))))

(defun live-lisp--own-folder-p (folder)
  "True when FOLDER is one that only this user can enter."
  (let ((attributes (file-attributes folder 'integer)))
    (and attributes
         (eq (file-attribute-type attributes) t)
         (= (file-attribute-user-id attributes) (user-uid))
         (string= (file-attribute-modes attributes) "drwx------"))))

(defun live-lisp--described (folder pattern)
  "Return what the files of FOLDER say whose names match PATTERN.
Each is an alist, in which `file' is the name of the file."
  (when (live-lisp--own-folder-p folder)
    (delq nil
          (mapcar (lambda (file)
                    (ignore-errors
                      (with-temp-buffer
                        (insert-file-contents file)
                        (cons (cons 'file file) (live-lisp--parsed (buffer-string))))))
                  (directory-files folder t pattern)))))

(defun live-lisp--parsed (text)
  "Return the JSON object TEXT as an alist."
  (if (fboundp 'json-parse-string)
      (json-parse-string text :object-type 'alist :null-object nil :false-object nil)
    (let ((json-false nil) (json-object-type 'alist) (json-array-type 'vector))
      (json-read-from-string text))))

(defun live-lisp--look ()
  "Connect to the servers of this user that Emacs is not connected to."
  (let ((connected (mapcar (lambda (server) (process-get server 'file)) live-lisp--servers)))
    (dolist (session (live-lisp--described (concat (live-lisp--folder) "sessions/") "\\`session-[0-9]+\\.json\\'"))
      (let-alist session
        (unless (member .file connected)
          (ignore-errors (live-lisp--connect .file .workspace .pid)))))))

(defun live-lisp--connect (file workspace pid)
  "Connect to the server that FILE describes.
Its process is PID, and its tools work in WORKSPACE."
  (let ((server (make-network-process
                 :name (format "live-lisp-%s" pid)
                 :family 'local
                 :service (concat (file-name-sans-extension file) ".socket")
                 :coding 'utf-8
                 :noquery t
                 :filter #'live-lisp--receive
                 :sentinel #'live-lisp--gone)))
    (process-put server 'file file)
    (process-put server 'pid pid)
    (process-put server 'workspace workspace)
    (process-put server 'name (file-name-nondirectory (directory-file-name (format "%s" workspace))))
    (push server live-lisp--servers)
    (live-lisp--request server "live-lisp/watch" '((editor . "Emacs")))))

(defun live-lisp--gone (server _event)
  "Forget SERVER, whose connection has ended, and its questions."
  (unless (process-live-p server)
    (setq live-lisp--servers (delq server live-lisp--servers))
    (dolist (buffer (live-lisp--question-buffers))
      (when (eq (buffer-local-value 'live-lisp--server buffer) server) (live-lisp--close-question buffer)))))

(defun live-lisp--request (server method parameters &optional then)
  "Send SERVER the request METHOD with PARAMETERS.  Call THEN with the result."
  (let ((id (1+ (or (process-get server 'requests) 0))))
    (process-put server 'requests id)
    (when then (process-put server 'waiting (cons (cons id then) (process-get server 'waiting))))
    (live-lisp--send server `((id . ,id) (method . ,method) (params . ,parameters)))))

(defun live-lisp--send (server message)
  "Send SERVER the MESSAGE, an alist."
  (process-send-string server (concat (json-encode (cons '(jsonrpc . "2.0") message)) "\n")))

(defun live-lisp--receive (server text)
  "Handle the messages of SERVER that TEXT completes."
  (let ((chunks (cons text (process-get server 'chunks))))
    (if (not (string-match-p "\n" text))
        (process-put server 'chunks chunks)
      (let ((lines (split-string (apply #'concat (nreverse chunks)) "\n")))
        (process-put server 'chunks (last lines))
        (dolist (line (butlast lines))
          (with-demoted-errors "live-lisp: %S" (live-lisp--handle server (live-lisp--parsed line))))))))

(defun live-lisp--handle (server message)
  "Do what MESSAGE of SERVER says."
  (let-alist message
    (pcase .method
      ("live-lisp/began" (live-lisp--show-call server .params))
      ("live-lisp/ended" (live-lisp--show-answer server .params))
      ("live-lisp/asked" (live-lisp--show-question server .params))
      ("live-lisp/closed" (live-lisp--show-closed server .params))
      ("live-lisp/changed" (live-lisp--show-change .params.file))
      ("live-lisp/unsaved"
       (live-lisp--send server `((id . ,.id) (result . ,(live-lisp--unsaved .params.file .params.limit)))))
      ('nil (let ((then (alist-get .id (process-get server 'waiting))))
              (process-put server 'waiting (assq-delete-all .id (process-get server 'waiting)))
              (when then (funcall then .result)))))))

;;; Files

(defun live-lisp--unsaved-p (file)
  "Return t when a buffer has unsaved changes of FILE."
  (let ((buffer (find-buffer-visiting file)))
    (and buffer (buffer-modified-p buffer) t)))

(defun live-lisp--unsaved (file limit)
  "Return t when a buffer has unsaved changes of FILE, else nil.
With LIMIT return a vector of the files with unsaved changes that are
FILE or below it, if there are any.  Each is an alist with the octets of
its buffer, in base64.  All together have at most LIMIT octets; files
whose octets would be more have none."
  (let ((folder (file-name-as-directory file))
        (files '()))
    (dolist (buffer (and limit (buffer-list)))
      (with-current-buffer buffer
        (when (and buffer-file-truename (buffer-modified-p))
          ;; By the name at the time of the visit: a link on the way can lead elsewhere now.
          (let ((name (expand-file-name buffer-file-truename)))
            (when (or (string= name file) (string-prefix-p folder name))
              (let ((octets (live-lisp--octets limit)))
                (setq limit (- limit (length octets)))
                (push `((file . ,name) ,@(when octets `((octets . ,(base64-encode-string octets t))))) files)))))))
    (if files (vconcat files) (live-lisp--unsaved-p file))))

(defun live-lisp--octets (limit)
  "Return the octets that saving the current buffer would write.
What hooks would change is not in them.  Return nil for more than LIMIT
octets, or when the file holds another content than the text, as an
encrypted one does."
  (unless (or (> (buffer-size) limit)
              buffer-file-format
              write-contents-functions
              (find-file-name-handler buffer-file-name 'write-region))
    (save-restriction
      (widen)
      (let* ((coding (or buffer-file-coding-system 'undecided))
             (lacking (unencodable-char-position (point-min) (point-max) coding))
             (octets (encode-coding-region (point-min) (point-max)
                                           (if lacking (coding-system-change-text-conversion coding 'utf-8) coding)
                                           t)))
        (and (<= (length octets) limit) octets)))))

(defun live-lisp--show-change (file)
  "Read FILE anew into its buffer, if there is one without unsaved changes."
  (let ((buffer (find-buffer-visiting file)))
    (when (and buffer (not (buffer-modified-p buffer)) (not (verify-visited-file-modtime buffer)))
      (with-current-buffer buffer
        (let ((inhibit-message t)) (revert-buffer t t t))))))

;;; The log

(define-derived-mode live-lisp-log-mode special-mode "live-lisp"
  "Shows the calls of agents."
  (setq-local truncate-lines t)
  (buffer-disable-undo))

(defun live-lisp--log-buffer ()
  "Return the buffer *live-lisp*."
  (or (get-buffer "*live-lisp*")
      (with-current-buffer (get-buffer-create "*live-lisp*")
        (live-lisp-log-mode)
        (current-buffer))))

(defun live-lisp-log ()
  "Show the buffer *live-lisp*, in which each call of an agent stands."
  (interactive)
  (pop-to-buffer (live-lisp--log-buffer))
  (goto-char (point-max)))

(defun live-lisp--insert (text &optional place)
  "Insert TEXT into the log, at PLACE or at the end.  Return a marker behind it.
Windows that show the end of the log go on to show it."
  (with-current-buffer (live-lisp--log-buffer)
    (let* ((inhibit-read-only t)
           (following (seq-filter (lambda (window) (= (window-point window) (point-max)))
                                  (get-buffer-window-list nil nil t)))
           (behind (save-excursion
                     (goto-char (or place (point-max)))
                     (insert text)
                     (point-marker))))
      (save-excursion
        (goto-char (point-max))
        (when (zerop (forward-line (- live-lisp-log-lines))) (delete-region (point-min) (point))))
      (dolist (window following) (set-window-point window (point-max)))
      behind)))

(defun live-lisp--line (server time words)
  "Return the line with TIME, the name of SERVER, and WORDS."
  (concat (propertize (format-time-string "%H:%M:%S " time) 'face 'shadow)
          (process-get server 'name) " " words "\n"))

(defun live-lisp--show-call (server call)
  "Show CALL, which has begun on SERVER."
  (let-alist call
    (let* ((words (concat .client " " (propertize .tool 'face 'font-lock-function-name-face)))
           (lines (mapconcat (lambda (line) (concat "  " line "\n")) .lines ""))
           (place (live-lisp--insert (concat (live-lisp--line server .time words) lines))))
      (process-put server 'calls (cons (cons .id place) (process-get server 'calls))))))

(defun live-lisp--show-answer (server answer)
  "Show ANSWER, which ends a call on SERVER."
  (let-alist answer
    (let* ((calls (process-get server 'calls))
           (place (alist-get .id calls))
           (text (format "  => %s  (%.1f s)\n" .line (/ .milliseconds 1000.0))))
      (process-put server 'calls (assq-delete-all .id calls))
      (live-lisp--insert (propertize text 'face (if .isError 'error 'default)) place)
      (when place (set-marker place nil)))))

;;; Questions

(defvar-local live-lisp--server nil "The server that asks the question of this buffer.")
(defvar-local live-lisp--question nil "The question of this buffer, an alist.")

(defvar live-lisp--last-answer 0
  "When the user last answered a question.")

(defvar live-lisp-question-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map "y" #'live-lisp-approve)
    (define-key map "n" #'live-lisp-deny)
    map)
  "Keys in the buffer of a question.")

(define-derived-mode live-lisp-question-mode special-mode "live-lisp?"
  "Shows what an agent may only do when you approve it."
  (setq-local font-lock-defaults
              '((("\\`.*" . 'bold) ("^\\+.*" . 'diff-added) ("^-.*" . 'diff-removed) ("^@@.*" . 'diff-hunk-header)) t))
  (setq-local header-line-format "y: approve   n: deny, with a word to the agent   q: answer later"))

(defun live-lisp--question-buffers ()
  "Return the buffers of the questions that are open, the oldest first."
  (let ((buffers (seq-filter (lambda (buffer) (buffer-local-value 'live-lisp--question buffer)) (buffer-list))))
    (sort buffers (lambda (one other)
                    (time-less-p (alist-get 'asked (buffer-local-value 'live-lisp--question one))
                                 (alist-get 'asked (buffer-local-value 'live-lisp--question other)))))))

(defun live-lisp-questions ()
  "Show the oldest question that is open."
  (interactive)
  (let ((buffer (car (live-lisp--question-buffers))))
    (unless buffer (user-error "No question is open"))
    (pop-to-buffer buffer)))

(defun live-lisp--show-question (server question)
  "Show QUESTION of SERVER, without taking the keys that the user types now."
  (let-alist question
    (let ((buffer (generate-new-buffer (format "*live-lisp: %s*" .tool))))
      (with-current-buffer buffer
        (live-lisp-question-mode)
        (setq live-lisp--server server
              live-lisp--question (cons (cons 'asked (current-time)) question))
        (let ((inhibit-read-only t)) (insert .headline "\n\n" .text "\n"))
        (goto-char (point-min)))
      (live-lisp--insert (live-lisp--line server nil .headline))
      (display-buffer buffer '(nil (inhibit-same-window . t)))
      (message "live-lisp asks: %s  (M-x live-lisp-questions)" .headline))))

(defun live-lisp--close-question (buffer)
  "Take away BUFFER, which shows a question that is answered."
  (let ((window (get-buffer-window buffer t)))
    (if window (quit-window t window) (kill-buffer buffer))))

(defun live-lisp--show-closed (server closed)
  "Take away a question of SERVER, because of CLOSED."
  (let-alist closed
    (dolist (buffer (live-lisp--question-buffers))
      (let ((question (buffer-local-value 'live-lisp--question buffer)))
        (when (equal (alist-get 'id question) .id)
          (live-lisp--insert (live-lisp--line server nil (format "%s: %s" (alist-get 'tool question) .why)))
          (live-lisp--close-question buffer))))))

(defun live-lisp--answer (approve &optional words)
  "Answer the question of this buffer: APPROVE is t or nil, WORDS go to the agent."
  (unless live-lisp--question (user-error "This buffer shows no question"))
  (setq live-lisp--last-answer (float-time))
  (live-lisp--request live-lisp--server "live-lisp/answer"
                      `((id . ,(alist-get 'id live-lisp--question)) (approve . ,approve) (words . ,words))
                      (lambda (result) (message "live-lisp: %s" (alist-get 'text result)))))

(defun live-lisp--check-seen ()
  "Signal an error when the user has just answered a question.
So one key, pressed twice, never answers two."
  (when (< (- (float-time) live-lisp--last-answer) 1)
    (user-error "This is another question: read it, then answer")))

(defun live-lisp-approve ()
  "Let the agent do what this buffer shows, once."
  (interactive)
  (live-lisp--check-seen)
  (live-lisp--answer t))

(defun live-lisp-deny (words)
  "Do not let the agent do what this buffer shows, and tell it WORDS."
  (interactive (progn (live-lisp--check-seen) (list (read-string "Deny. A word to the agent (may be empty): "))))
  (live-lisp--answer nil words))

;;; Images and servers

(defun live-lisp-images ()
  "Show the images that serve live-lisp, and the servers of agents."
  (interactive)
  (let ((images (seq-filter (lambda (image) (eq (signal-process (alist-get 'pid image) 0) 0))
                            (live-lisp--described (live-lisp--folder) "\\.json\\'"))))
    (with-help-window "*live-lisp images*"
      (princ (if images "Images that serve:\n" "No image serves. M-x live-lisp-attach makes that of SLIME or SLY serve.\n"))
      (dolist (image images)
        (let-alist image
          (princ (format "  %s: %s, pid %s, in %s since %s\n" .name .lisp .pid .workspace
                         (format-time-string "%F %T" .started)))))
      (princ (if live-lisp--servers "\nServers of agents that Emacs is connected to:\n" "\nEmacs is connected to no server of an agent.\n"))
      (dolist (server live-lisp--servers)
        (princ (format "  pid %s, in %s\n" (process-get server 'pid) (process-get server 'workspace)))))))

;;; The mode

(defvar live-lisp--timer nil "Looks for servers while the mode is on.")

(defun live-lisp--lighter ()
  "Return the text of the mode line.
It counts the servers that are connected, and the questions that are open."
  (let ((questions (length (live-lisp--question-buffers))))
    (concat (format " live-lisp:%d" (length live-lisp--servers))
            (unless (zerop questions) (propertize (format "?%d" questions) 'face 'warning)))))

;;;###autoload
(define-minor-mode live-lisp-mode
  "Watch what agents do in Lisp images, and approve it in Emacs."
  :global t
  :lighter (:eval (live-lisp--lighter))
  (when live-lisp--timer
    (cancel-timer live-lisp--timer)
    (setq live-lisp--timer nil))
  (cond (live-lisp-mode
         (add-hook 'slime-connected-hook #'live-lisp--connected)
         (add-hook 'sly-connected-hook #'live-lisp--connected)
         (setq live-lisp--timer (run-with-timer 0 live-lisp--interval #'live-lisp--look))
         (ignore-errors (live-lisp--connected)))
        (t
         (remove-hook 'slime-connected-hook #'live-lisp--connected)
         (remove-hook 'sly-connected-hook #'live-lisp--connected)
         (mapc #'delete-process (copy-sequence live-lisp--servers)))))

(provide 'live-lisp)

;;; live-lisp.el ends here
