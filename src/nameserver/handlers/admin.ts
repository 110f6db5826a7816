// Requests of administrators: 205 and 327 take and give a broker's write permission, 318 and 319 the server's own settings.
import { Perms } from '../../core/topic-config.ts';
import { RequestCodes, ResponseCodes } from '../../protocol/codes.ts';
import { defineExt, text } from '../../protocol/ext.ts';
import { withoutWrite } from '../topic-rows.ts';
import { type HandlerTable, refused, success, withFields } from './handler.ts';

const brokerExt = defineExt({ brokerName: text });

export const adminHandlers: HandlerTable = {
  [RequestCodes.WIPE_WRITE_PERM_OF_BROKER]: withFields(brokerExt, ({ brokerName }, _request, { routes }) => ({
    code: ResponseCodes.SUCCESS,
    ext: { wipeTopicCount: routes.rows.changePerm(brokerName, withoutWrite) },
  })),

  // Exactly read and write, whatever it was before: that is what stock name servers do.
  [RequestCodes.ADD_WRITE_PERM_OF_BROKER]: withFields(brokerExt, ({ brokerName }, _request, { routes }) => ({
    code: ResponseCodes.SUCCESS,
    ext: { addTopicCount: routes.rows.changePerm(brokerName, () => Perms.readWrite) },
  })),

  [RequestCodes.UPDATE_NAMESRV_CONFIG]: ({ body }, { settings }) => {
    const result = settings.change(body.toString('utf8'));
    if (result.ok) return success;
    return result.blackListed ? { code: ResponseCodes.NO_PERMISSION, remark: result.fault } : refused(result.fault);
  },

  [RequestCodes.GET_NAMESRV_CONFIG]: (_request, { settings, port }) => ({
    code: ResponseCodes.SUCCESS,
    body: Buffer.from(settings.text(port)),
  }),
};
