// Checks the bodies of one table or list each.
import test from 'ava';
import { decodeBrokerMemberGroup, encodeBrokerMemberGroup } from '../../../src/protocol/bodies/broker-member-group.ts';
import { decodeDataVersion, encodeDataVersion } from '../../../src/protocol/bodies/data-version.ts';
import { decodeKvTable, encodeKvTable } from '../../../src/protocol/bodies/kv-table.ts';
import { decodeTopicList, encodeTopicList } from '../../../src/protocol/bodies/topic-list.ts';

test('small bodies: each is read as it was written', (t) => {
  const group = { cluster: 'C', brokerName: 'b', brokerAddrs: new Map([[0, 'h:1']]) };
  t.deepEqual(decodeBrokerMemberGroup(encodeBrokerMemberGroup(group)), { ok: true, value: group });
  const version = { stateVersion: 1, timestamp: 2, counter: 3 };
  t.deepEqual(decodeDataVersion(encodeDataVersion(version)), { ok: true, value: version });
  const table = new Map([
    ['a', '1'],
    ['__proto__', 'x'],
  ]);
  t.deepEqual(decodeKvTable(encodeKvTable(table)), { ok: true, value: table });
  t.deepEqual(decodeTopicList(encodeTopicList({ topicList: ['a', 'b'] })), { ok: true, value: { topicList: ['a', 'b'] } });
  const list = { topicList: [], brokerAddr: 'h:1' };
  t.deepEqual(decodeTopicList(encodeTopicList(list)), { ok: true, value: list });
});

test('small bodies: numbers may come as text, and what is no object is a fault', (t) => {
  t.deepEqual(decodeDataVersion(Buffer.from('{"counter":"7"}')), { ok: true, value: { stateVersion: 0, timestamp: 0, counter: 7 } });
  for (const decode of [decodeBrokerMemberGroup, decodeDataVersion, decodeKvTable, decodeTopicList]) {
    for (const body of ['', '[]', '"x"', 'null', '{']) t.false(decode(Buffer.from(body)).ok, body);
  }
});
