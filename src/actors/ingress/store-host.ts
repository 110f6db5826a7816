// The broker's address as it stands in records and message ids: the advertised one, with the port that was really bound.
import { isIPv4 } from 'node:net';
import { encodeOffsetMessageId } from '../../message/message-id.ts';

const POSITION_DIGITS = 16;

export class StoreHost {
  bytes: Uint8Array = new Uint8Array(4);
  port = 0;
  /** First part of every offset message id of this broker. */
  idPrefix = '';

  /** An advertised address that is no IPv4 literal (a host name) stands as 0.0.0.0: ids then lead nowhere, messages are fine. */
  set(host: string, port: number): void {
    this.bytes = isIPv4(host) ? Uint8Array.from(host.split('.').map(Number)) : new Uint8Array(4);
    this.port = port;
    this.idPrefix = encodeOffsetMessageId(this.bytes, port, 0).slice(0, -POSITION_DIGITS);
  }
}
