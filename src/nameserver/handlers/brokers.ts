// Requests of brokers: 103 register, 104 leave, 322 compare versions, 904 heartbeat, 901 members of a name.
import { encodeBrokerMemberGroup } from '../../protocol/bodies/broker-member-group.ts';
import { decodeDataVersion, encodeDataVersion } from '../../protocol/bodies/data-version.ts';
import { encodeKvTable } from '../../protocol/bodies/kv-table.ts';
import { decodeRegistration, registrationCrc } from '../../protocol/bodies/register-broker.ts';
import { RequestCodes, ResponseCodes } from '../../protocol/codes.ts';
import { bool, defineExt, type ExtOf, int64, optional, text } from '../../protocol/ext.ts';
import type { ExtFields } from '../../protocol/header.ts';
import { ORDER_NAMESPACE } from '../kv-config.ts';
import type { Registration } from '../route-table.ts';
import { type Answer, type HandlerTable, type NameRequest, type NameState, refused, success, withFields } from './handler.ts';

const brokerExt = { brokerName: text, brokerAddr: text, clusterName: text, brokerId: int64 };
const leaveExt = defineExt(brokerExt);
const registerGrammar = {
  ...brokerExt,
  haServerAddr: optional(text),
  heartbeatTimeoutMillis: optional(int64),
  enableActingMaster: optional(bool),
  compressed: optional(bool),
  bodyCrc32: optional(int64),
  __ZONE_NAME: optional(text),
};
const registerExt = defineExt(registerGrammar);
const heartbeatExt = defineExt({ clusterName: text, brokerAddr: text, brokerName: text });
const memberExt = defineExt({ clusterName: text, brokerName: text });

function register(fields: ExtOf<typeof registerGrammar>, request: NameRequest, state: NameState): Answer {
  const { header, body } = request;
  if (fields.brokerId < 0) return refused(`request field is not as allowed field=brokerId seen=${fields.brokerId} allowed=0 and more`);
  if ((fields.bodyCrc32 ?? 0) !== 0 && fields.bodyCrc32 !== registrationCrc(body)) return refused('crc32 not match');
  const decoded = decodeRegistration(body, fields.compressed ?? false, header.version);
  if (!decoded.ok) return refused(`register broker failed: ${decoded.fault}`);
  const timeoutMs = fields.heartbeatTimeoutMillis;
  const registration: Registration = {
    cluster: fields.clusterName,
    brokerName: fields.brokerName,
    brokerId: fields.brokerId,
    address: fields.brokerAddr,
    haServerAddr: fields.haServerAddr ?? '',
    zoneName: fields.__ZONE_NAME,
    timeoutMs: timeoutMs === undefined || timeoutMs <= 0 ? undefined : timeoutMs,
    enableActingMaster: fields.enableActingMaster,
    body: decoded.value,
  };
  const { routes, kv, settings } = state;
  const result = routes.register(registration, settings.values, request.steadyMs, request.connectionId);
  if (!result.ok) return refused('register broker failed');
  const ext: ExtFields = {};
  if (result.haServerAddr !== undefined) ext['haServerAddr'] = result.haServerAddr;
  if (result.masterAddr !== undefined) ext['masterAddr'] = result.masterAddr;
  const orders = settings.values.returnOrderTopicConfigToBroker ? kv.list(ORDER_NAMESPACE) : undefined;
  return { code: ResponseCodes.SUCCESS, ext, body: orders === undefined ? undefined : encodeKvTable(orders) };
}

export const brokerHandlers: HandlerTable = {
  [RequestCodes.REGISTER_BROKER]: withFields(registerExt, register),

  [RequestCodes.UNREGISTER_BROKER]: withFields(leaveExt, ({ clusterName, brokerAddr, brokerName, brokerId }, _request, { routes }) => {
    routes.unregister({ cluster: clusterName, address: brokerAddr, brokerName, brokerId });
    return success;
  }),

  // Also the heartbeat of brokers with an acting master, one way then.
  [RequestCodes.QUERY_DATA_VERSION]: withFields(leaveExt, ({ clusterName, brokerAddr }, request, { routes }) => {
    const asked = decodeDataVersion(request.body);
    if (!asked.ok) return refused(asked.fault);
    const known = routes.compareVersion(clusterName, brokerAddr, asked.value, request.steadyMs, request.connectionId);
    const body = known === undefined ? undefined : encodeDataVersion(known === 'same' ? asked.value : known);
    return { code: ResponseCodes.SUCCESS, ext: { changed: known !== 'same' }, body };
  }),

  [RequestCodes.BROKER_HEARTBEAT]: withFields(heartbeatExt, ({ clusterName, brokerAddr }, request, { routes }) => {
    routes.live.touch(clusterName, brokerAddr, request.steadyMs, request.connectionId);
    return success;
  }),

  [RequestCodes.GET_BROKER_MEMBER_GROUP]: withFields(memberExt, ({ clusterName, brokerName }, _request, { routes }) => {
    const entry = routes.brokers.get(brokerName);
    const brokerAddrs = entry?.cluster === clusterName ? entry.brokerAddrs : new Map<number, string>();
    return { code: ResponseCodes.SUCCESS, body: encodeBrokerMemberGroup({ cluster: clusterName, brokerName, brokerAddrs }) };
  }),
};
