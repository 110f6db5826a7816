// What a cell of the measuring plan is for the load generator; the names are those of ../shared/perf.

/** @param times seconds, warmup and backlog as texts. Throws for a name that is no cell. */
export function generatorArgs(cell, times) {
  const span = ['--warmup', times.warmup, '--seconds', times.seconds];
  const send = /^send-(json-)?(128|1k)-(\d+)x(\d+)$/.exec(cell);
  if (send !== null) {
    const [, json, size, connections, inFlight] = send;
    const shape = ['--size', size === '1k' ? '1024' : size, '--conns', connections, '--inflight', inFlight];
    return ['send', ...shape, ...(json === undefined ? [] : ['--header', 'json']), ...span, '--verify'];
  }
  const batch = /^batch-(\d+)x(\d+)-(\d+)x(\d+)$/.exec(cell);
  if (batch !== null) {
    const [, size, count, connections, inFlight] = batch;
    return ['batch', '--size', size, '--batch', count, '--conns', connections, '--inflight', inFlight, ...span, '--verify'];
  }
  if (cell === 'prodcons-1k-max') return ['prodcons', ...span];
  if (cell === 'catchup-hot-1k') return ['catchup', '--backlog', times.backlog, '--seconds', '60'];
  throw new Error(`no such cell: ${cell}; allowed: send-[json-]{128,1k}-CxI, batch-SIZExN-CxI, prodcons-1k-max, catchup-hot-1k`);
}
