// Decides what Node alone costs: it answers the first request before it was read, and does nothing.

process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, result: {} })}\n`);
process.stdin.resume();
