// How two other MCP servers for Common Lisp did with hostile forms, measured in mid 2026. They ran on Debian 12 with
// SBCL 2.2.9 and two noisy cores. They are quasi/cl-mcp-server, rebuilt from its history, and cl-ai-project/cl-mcp
// v2.2.0 with its pool of workers. CASE names the case of ours that the row stands beside.

export const RIVALS = [
  {
    what: '`(loop)`, 2 s limit',
    case: 'an empty loop',
    quasi: '2.02 s, text, state kept',
    pool: '2.09 s, text, state kept',
  },
  {
    what: '`(sb-ext:exit)`',
    case: '(exit)',
    quasi: '**server gone** (exit 0)',
    pool: 'crash told at once, new worker 0.10 s, state lost',
  },
  {
    what: '`(loop (print 1))`, 2 s limit',
    case: 'output without end',
    quasi: '2.4 s, 67 k chars returned, peak 512 MB',
    pool: '2.07 s, **no output returned**, peak 593 MB',
  },
  {
    what: '`(make-array 10000000000)`',
    case: 'an array larger than the heap',
    quasi: '**server gone** in 0.05 s',
    pool: 'clean error 0.05 s, state kept',
  },
  {
    what: 'infinite recursion',
    case: 'recursion without end',
    quasi: '**server gone**; backtrace printed into the protocol',
    pool: 'clean error 0.01 s, state kept',
  },
  {
    what: 'fill the heap',
    case: 'conses without end',
    quasi: '**server gone**',
    pool: 'worker lost, new one 0.11 s',
  },
  {
    what: '`(sb-sys:without-interrupts (loop))`, 2 s',
    case: 'a loop that nothing may interrupt',
    quasi: '**wedged for ever** (no reply in 45 s)',
    pool: '"timed out" 3.1 s, but the thread goes on: 4.95 CPU-s in the next 5 s',
  },
  {
    what: 'memory fault (write to address 0)',
    case: 'a write at address 0',
    quasi: '**server gone**',
    pool: 'clean error, state kept',
  },
  {
    what: '`(break)`',
    case: '(break)',
    quasi: 'logged and continued',
    pool: '**worker lost, state lost**',
  },
  {
    what: '`(invoke-debugger ...)`',
    case: '(invoke-debugger)',
    quasi: '**server gone**',
    pool: '**worker lost**',
  },
  {
    what: 'error in a thread made by the form',
    case: 'an error in a thread',
    quasi: 'harmless',
    pool: '**worker lost, state lost**',
  },
  {
    what: 'child process writes to stdout, raw `*stdout*`',
    case: 'what looks like a protocol message',
    quasi: '**corrupts the MCP stream**',
    pool: 'safe',
  },
  {
    what: '`(+ 1`',
    case: 'unreadable: an open (',
    quasi: '**invalid JSON reply** (with the JSON library of Debian)',
    pool: 'clear text',
  },
  {
    what: 'two `(sleep 2)` at once',
    case: 'two (sleep 2) at once',
    quasi: '2.00 s + 4.00 s (serial)',
    pool: '2.00 s + 4.00 s (serial)',
  },
  {
    what: '`tools/list` during `(sleep 3)`',
    case: 'tools/list during (sleep 3)',
    quasi: '2.9 s',
    pool: '2.9 s',
  },
  {
    what: 'cancel a 12 s sleep after 1 s, then eval',
    case: 'a 12 s sleep cancelled after 1 s, then an evaluation',
    quasi: 'answered 11.0 s later',
    pool: 'answered 11.0 s later',
  },
];
