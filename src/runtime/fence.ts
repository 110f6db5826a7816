// A full memory fence: the one thing that plain, overlapping copies of shared memory need beyond atomics.

const word = new Int32Array(1);

/**
 * Every access before it is done before any access after it. An atomic store alone lets later plain accesses slip before it on some
 * processors (a release), and an atomic load alone lets earlier ones slip behind it (an acquire); the pair does neither.
 *
 * Needed where bytes are copied that another thread may be overwriting, and a mark tells afterwards whether it was:
 *
 *   writer   store mark, fence, overwrite           reader   copy, fence, load mark
 */
export function fence(): void {
  Atomics.store(word, 0, 0);
  Atomics.load(word, 0);
}
