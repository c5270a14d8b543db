// Forms that close, fill or use up descriptors.

import { type Group, lost } from '../case.ts';

export const DESCRIPTORS: Group = {
  title: 'Descriptors',
  cases: [
    {
      name: 'descriptor 2 closed',
      form: '(progn (sb-unix:unix-close 2) :closed)',
      succeeds: true,
      says: /^:CLOSED$/,
    },
    {
      name: 'all descriptors closed',
      freezes: true,
      long: true,
      form: '(progn (loop for fd below 256 do (sb-unix:unix-close fd)) (loop))',
      says: /^Error: /,
      image: 'replaced',
    },
    {
      name: 'garbage on descriptor 3',
      form: '(let ((s (sb-sys:make-fd-stream 3 :output t :buffering :none))) (write-string "HTTP/1.1 200 OK and more" s) (loop))',
      says: lost('its answers could not be understood \\(.*\\)'),
      image: 'replaced',
    },
    {
      name: 'half a frame on descriptor 3',
      form: '(let ((s (sb-sys:make-fd-stream 3 :output t :buffering :none :element-type (quote (unsigned-byte 8))))) (write-sequence (coerce (quote (0 0 0 200 123)) (quote (vector (unsigned-byte 8)))) s) :written)',
      says: /^Error: /,
      image: 'replaced',
    },
    {
      name: 'the header of a huge frame on descriptor 3',
      form: '(let ((s (sb-sys:make-fd-stream 3 :output t :buffering :none :element-type (quote (unsigned-byte 8))))) (write-sequence (coerce (quote (255 255 255 255)) (quote (vector (unsigned-byte 8)))) s) (loop))',
      says: lost('its answers could not be understood \\(a frame of 4294967295 octets is over the limit\\)'),
      image: 'replaced',
    },
    {
      name: 'a frame on descriptor 3 that is JSON but no message',
      form: '(let ((s (sb-sys:make-fd-stream 3 :output t :buffering :none :element-type (quote (unsigned-byte 8))))) (write-sequence (coerce (quote (0 0 0 2 91 93)) (quote (vector (unsigned-byte 8)))) s) (loop))',
      says: lost('its answers could not be understood \\(a frame is not a JSON object\\)'),
      image: 'replaced',
    },
    {
      name: 'messages read away from descriptor 3',
      long: true,
      form: '(let ((b (sb-alien:make-alien (sb-alien:unsigned 8) 65536))) (loop (sb-unix:unix-read 3 (sb-alien:alien-sap b) 65536)))',
      says: /^Error: /,
      image: 'replaced',
      freezes: true,
      spoils: true,
    },
    {
      name: 'descriptors used up and kept',
      form: '(progn (sb-alien:alien-funcall (sb-alien:extern-alien "setrlimit" (function sb-alien:int sb-alien:int (* t))) 7 (let ((r (sb-alien:make-alien (sb-alien:unsigned 64) 2))) (setf (sb-alien:deref r 0) 40 (sb-alien:deref r 1) 40) r)) (defvar *open* nil) (loop (push (open "/dev/null") *open*)))',
      says: /^Error: /,
      probe: ['(progn (mapc (function close) *open*) :closed)', /^:CLOSED$/],
      spoils: true,
    },
    {
      name: 'the streams of SBCL closed',
      form: '(progn (close sb-sys:*stdout*) (close sb-sys:*stdin*) (close sb-sys:*stderr*) :closed)',
      succeeds: true,
      says: /^:CLOSED$/,
    },
  ],
};
