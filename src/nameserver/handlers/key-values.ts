// Requests for key-value settings: 100 put, 101 get, 102 delete, 219 list of a namespace.
import { encodeKvTable } from '../../protocol/bodies/kv-table.ts';
import { RequestCodes, ResponseCodes } from '../../protocol/codes.ts';
import { defineExt, optional, text } from '../../protocol/ext.ts';
import { type HandlerTable, refused, success, withFields } from './handler.ts';

const keyExt = defineExt({ namespace: text, key: text });
const putExt = defineExt({ namespace: text, key: text, value: optional(text) });
const namespaceExt = defineExt({ namespace: text });

export const keyValueHandlers: HandlerTable = {
  [RequestCodes.PUT_KV_CONFIG]: withFields(putExt, ({ namespace, key, value }, { header }, { kv }) => {
    // An empty value is a value; only its absence is a fault.
    if (value === undefined && header.field('value') === undefined) return refused('request field is absent field=value allowed=text');
    kv.put(namespace, key, value ?? '');
    return success;
  }),

  [RequestCodes.GET_KV_CONFIG]: withFields(keyExt, ({ namespace, key }, _request, { kv }) => {
    const value = kv.get(namespace, key);
    if (value !== undefined) return { code: ResponseCodes.SUCCESS, ext: { value } };
    return { code: ResponseCodes.QUERY_NOT_FOUND, remark: `No config item, Namespace: ${namespace} Key: ${key}` };
  }),

  [RequestCodes.DELETE_KV_CONFIG]: withFields(keyExt, ({ namespace, key }, _request, { kv }) => {
    kv.delete(namespace, key);
    return success;
  }),

  [RequestCodes.GET_KVLIST_BY_NAMESPACE]: withFields(namespaceExt, ({ namespace }, _request, { kv }) => {
    const table = kv.list(namespace);
    if (table !== undefined) return { code: ResponseCodes.SUCCESS, body: encodeKvTable(table) };
    return { code: ResponseCodes.QUERY_NOT_FOUND, remark: `No config item, Namespace: ${namespace}` };
  }),
};
