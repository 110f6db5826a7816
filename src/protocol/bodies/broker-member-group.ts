// The body that lists a master and its slaves: addresses by broker id.
import { javaJson } from '../../base/json-writer.ts';
import type { Decoded } from '../ext.ts';
import { idMapOf, isObject, member, parseBody, textOf } from './json-body.ts';

export interface BrokerMemberGroup {
  readonly cluster: string;
  readonly brokerName: string;
  readonly brokerAddrs: ReadonlyMap<number, string>;
}

export function encodeBrokerMemberGroup(group: BrokerMemberGroup): Buffer {
  const { brokerAddrs, brokerName, cluster } = group;
  return Buffer.from(javaJson({ brokerMemberGroup: { brokerAddrs, brokerName, cluster } }));
}

export function decodeBrokerMemberGroup(body: Uint8Array): Decoded<BrokerMemberGroup> {
  const parsed = parseBody(body);
  if (!parsed.ok) return parsed;
  const group = member(parsed.value, 'brokerMemberGroup');
  if (!isObject(group)) return { ok: false, fault: 'body is not a group of brokers' };
  return {
    ok: true,
    value: {
      cluster: textOf(group, 'cluster', ''),
      brokerName: textOf(group, 'brokerName', ''),
      brokerAddrs: idMapOf(group, 'brokerAddrs'),
    },
  };
}
