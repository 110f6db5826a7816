// Copies bytes between arrays that may lie over shared memory, by the cheaper of two ways for the size.

/** Below this many bytes a plain loop beats the view that `set` needs. */
const LOOP_SIZE_MAX = 48;

export function copyBytes(from: Uint8Array, fromAt: number, fromEnd: number, to: Uint8Array, toAt: number): void {
  if (fromEnd - fromAt > LOOP_SIZE_MAX) {
    to.set(new Uint8Array(from.buffer, from.byteOffset + fromAt, fromEnd - fromAt), toAt);
    return;
  }
  for (let i = fromAt; i < fromEnd; i++) to[toAt++] = from[i] as number;
}
