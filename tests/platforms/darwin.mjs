// Makes the server take this machine for a Mac: `NODE_OPTIONS=--import=…/darwin.mjs`. Programs that came with binaries of
// their own, as Vitest, must not.

if (process.argv[1]?.endsWith('live-lisp.js'))
  Object.defineProperty(process, 'platform', { value: 'darwin' });
