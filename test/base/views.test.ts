// Views that are kept, and comparing by words.
import test from 'ava';
import { SeededRandom } from '../../src/base/random.ts';
import { equalWords, packWords, viewBelow } from '../../src/base/views.ts';

test('views: whatever the order in which arrays come, a view shows the bytes of its array', (t) => {
  const random = new SeededRandom(3);
  const buffers = Array.from({ length: 4 }, () => new ArrayBuffer(64));
  for (let round = 0; round < 5000; round++) {
    const buffer = buffers[random.below(4)] as ArrayBuffer;
    const bytes = new Uint8Array(buffer, random.below(64));
    for (let again = random.below(3); again >= 0; again--) {
      bytes[0] = random.below(256);
      const view = viewBelow(bytes);
      if (view.buffer !== buffer || view.getUint8(bytes.byteOffset) !== bytes[0]) t.fail(`round ${round}`);
    }
  }
  t.is(viewBelow(new Uint8Array(new SharedArrayBuffer(8), 4)).byteLength, 8);
});

test('views: packed bytes equal themselves at any place, and nothing that differs in one byte', (t) => {
  const bytes = Buffer.from(Array.from({ length: 64 }, (_, i) => i * 37));
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let size = 0; size <= 40; size++) {
    const words = Int32Array.from([7, ...packWords(view, 5, size)]);
    t.true(equalWords(view, 5, size, words, 1));
    const moved = Buffer.alloc(64);
    bytes.copy(moved, 3, 5, 5 + size);
    const movedView = new DataView(moved.buffer, moved.byteOffset, moved.length);
    t.true(equalWords(movedView, 3, size, words, 1));
    for (let i = 0; i < size; i++) {
      moved[3 + i] = (moved[3 + i] as number) ^ 1;
      t.false(equalWords(movedView, 3, size, words, 1), `size ${size}, byte ${i}`);
      moved[3 + i] = (moved[3 + i] as number) ^ 1;
    }
  }
});
