// The body that lists all brokers: addresses by broker name, broker names by cluster.
import { javaJson } from '../../base/json-writer.ts';
import type { Decoded } from '../ext.ts';
import { entriesOf, isObject, parseBody } from './json-body.ts';
import { type BrokerData, brokerDataJson, brokerDataOf } from './topic-route.ts';

export interface ClusterInfo {
  readonly brokerAddrTable: ReadonlyMap<string, BrokerData>;
  readonly clusterAddrTable: ReadonlyMap<string, readonly string[]>;
}

/** Always with bare broker ids: that is what name servers send, whoever asks. */
export function encodeClusterInfo(info: ClusterInfo): Buffer {
  const brokers = new Map<string, unknown>();
  for (const [name, data] of info.brokerAddrTable) brokers.set(name, brokerDataJson(data));
  return Buffer.from(javaJson({ brokerAddrTable: brokers, clusterAddrTable: info.clusterAddrTable }));
}

export function decodeClusterInfo(body: Uint8Array): Decoded<ClusterInfo> {
  const parsed = parseBody(body);
  if (!parsed.ok) return parsed;
  const json = parsed.value;
  if (!isObject(json)) return { ok: false, fault: 'body is not a cluster list' };
  const value: ClusterInfo = {
    brokerAddrTable: new Map(entriesOf(json, 'brokerAddrTable').map(([name, data]) => [name, brokerDataOf(data)])),
    clusterAddrTable: new Map(
      entriesOf(json, 'clusterAddrTable').map(([cluster, names]) => [cluster, Array.isArray(names) ? names.map(String) : []]),
    ),
  };
  return { ok: true, value };
}
