// The code tables against the names and numbers in captures.
import test from 'ava';
import { RequestCodes, ResponseCodes, requestCodeName, responseCodeName } from '../../src/protocol/codes.ts';
import { BROKER_VERSION, languageCode, languageName } from '../../src/protocol/versions.ts';
import { goldenClients, goldenFrames } from './golden.ts';

test('codes: no number has two names', (t) => {
  for (const codes of [RequestCodes, ResponseCodes]) t.is(new Set(Object.values(codes)).size, Object.keys(codes).length);
});

test('codes: names as the captured frames have them', (t) => {
  for (const client of goldenClients()) {
    for (const frame of goldenFrames(client)) {
      if ((frame.flag & 1) !== 0 || (frame.code > 3010 && frame.code < 200000)) continue;
      t.is(requestCodeName(frame.code), frame.name);
    }
  }
  t.is(requestCodeName(9999), '9999');
  t.is(responseCodeName(17), 'TOPIC_NOT_EXIST');
  t.is(responseCodeName(-5), '-5');
});

test('versions: languages by number and name, unknown ones stay', (t) => {
  t.is(languageName(0), 'JAVA');
  t.is(languageName(13), 'NODE_JS');
  t.is(languageName(99), 99);
  t.is(languageName('COBOL'), 'COBOL');
  t.is(languageCode('GO'), 9);
  t.is(languageCode('COBOL'), 7);
  t.is(languageCode(99), 99);
  t.is(BROKER_VERSION, 479);
});
