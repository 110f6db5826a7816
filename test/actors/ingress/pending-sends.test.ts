// The unique keys that wait with their sends.
import test from 'ava';
import { PendingSends } from '../../../src/actors/ingress/pending-sends.ts';

function kept(pending: PendingSends, text: string, from = 2): { bytes: string; text: string | undefined } {
  const send = pending.push();
  const bytes = Buffer.from(`__${text}__`);
  pending.keepKey(send, bytes, from, bytes.length - 2);
  const letters = Array.from({ length: send.keySize }, (_, i) => String.fromCharCode(pending.keys.getUint8(send.keyAt + i)));
  return { bytes: letters.join(''), text: send.keyText };
}

test('pending sends: a usual key is kept as bytes, a long or odd one as text, and none is none', (t) => {
  const pending = new PendingSends(16, 1);
  const key = '7F0000010A3C18B4AAC2000000000001';
  t.deepEqual(kept(pending, key), { bytes: key, text: undefined });
  t.deepEqual(kept(pending, 'x'.repeat(64)), { bytes: 'x'.repeat(64), text: undefined });
  t.deepEqual(kept(pending, 'x'.repeat(65)), { bytes: '', text: 'x'.repeat(65) });
  for (let c = 0; c < 0x80; c++) {
    const plain = c >= 0x20 && c !== 0x22 && c !== 0x5c && c < 0x7f;
    for (let place = 0; place < 7; place++) {
      const odd = `${'~'.repeat(place)}${String.fromCharCode(c)}${' '.repeat(6 - place)}`;
      t.deepEqual(kept(new PendingSends(2, 1), odd), plain ? { bytes: odd, text: undefined } : { bytes: '', text: odd });
    }
  }
  t.deepEqual(kept(pending, 'key\u00e9-1'), { bytes: '', text: 'key\u00e9-1' });
  t.deepEqual(kept(pending, key, -1), { bytes: '', text: undefined });
});

test('pending sends: keys of neighbours do not touch, and a slot forgets its former key', (t) => {
  const pending = new PendingSends(4, 1);
  const keys: string[] = [];
  for (let i = 0; i < 12; i++) {
    const size = i % 3 === 0 ? 64 : i;
    const key = String.fromCharCode(0x41 + i).repeat(size);
    t.deepEqual(kept(pending, key), { bytes: key, text: undefined });
    keys.push(key);
    if (i < 3) continue;
    const oldest = pending.takeAcked(1 + i - 3);
    t.truthy(oldest);
    if (oldest === null) return;
    const letters = Array.from({ length: oldest.keySize }, (_, n) => String.fromCharCode(pending.keys.getUint8(oldest.keyAt + n)));
    t.is(letters.join(''), keys[i - 3] as string);
    oldest.answered = true;
    t.is(pending.oldestAcked(), null);
  }
});
