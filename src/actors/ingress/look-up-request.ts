// The four requests about a queue (29, 30, 31, 32), read into one form.
import { RequestCodes } from '../../protocol/codes.ts';
import { decodeEarliestStoreTimeRequest } from '../../protocol/commands/earliest-store-time.ts';
import { decodeMaxOffsetRequest } from '../../protocol/commands/max-offset.ts';
import { decodeMinOffsetRequest } from '../../protocol/commands/min-offset.ts';
import { decodeSearchOffsetRequest } from '../../protocol/commands/search-offset.ts';
import type { Decoded } from '../../protocol/ext.ts';
import type { Header } from '../../protocol/header.ts';

export interface LookUpRequest {
  readonly topic: string;
  readonly queueId: number;
  /** For a search by time only. */
  readonly timestamp?: number | undefined;
  /** UPPER: the last message at or before the time instead of the first at or after it. */
  readonly boundaryType?: 'LOWER' | 'UPPER' | undefined;
}

export function decodeLookUp(header: Header): Decoded<LookUpRequest> {
  switch (header.code) {
    case RequestCodes.GET_MAX_OFFSET:
      return decodeMaxOffsetRequest(header);
    case RequestCodes.GET_MIN_OFFSET:
      return decodeMinOffsetRequest(header);
    case RequestCodes.GET_EARLIEST_MSG_STORETIME:
      return decodeEarliestStoreTimeRequest(header);
    default:
      return decodeSearchOffsetRequest(header);
  }
}
