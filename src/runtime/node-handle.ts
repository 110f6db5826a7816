// The one door to what node:net does not quite publish: the handle below a server or an accepted socket.
import net from 'node:net';

/** Where reads land, and who is told: the shape of node:net's `onread`. */
export interface ReadInto {
  readonly buffer: Uint8Array;
  /** false would stop reading. */
  readonly callback: (sizeBytes: number, buffer: Uint8Array) => boolean;
}

interface Handle {
  readonly fd?: unknown;
  readonly useUserBuffer?: unknown;
}
interface HasHandle {
  _handle?: Handle | null;
}

/** One buffer for all sockets is safe only where a read happens at once; Windows starts reads ahead of the data. */
export const canShareReadBuffer = process.platform !== 'win32';

/** The listening descriptor, or -1 where the platform has none. */
export function descriptorOf(server: net.Server): number {
  const fd = (server as unknown as HasHandle)._handle?.fd;
  return typeof fd === 'number' && fd >= 0 ? fd : -1;
}

/**
 * A new socket around the handle of an accepted, still paused one, so that its reads go to `onread` (which node:net offers only to
 * outgoing sockets). Undefined when the handle is out of reach; the accepted socket is then as it was.
 */
export function readInto(accepted: net.Socket, onread: ReadInto): net.Socket | undefined {
  const old = accepted as unknown as HasHandle;
  const handle = old._handle;
  if (handle === undefined || handle === null || typeof handle.useUserBuffer !== 'function') return undefined;
  const options = { handle, onread, allowHalfOpen: false };
  const socket = new net.Socket(options as unknown as net.SocketConstructorOpts);
  old._handle = null;
  accepted.on('error', () => {});
  // Without a handle this only takes the old socket off the server's count.
  accepted.destroy();
  return socket;
}

export function outgoingSocket(onread: ReadInto | undefined): net.Socket {
  return new net.Socket(onread === undefined ? {} : ({ onread } as unknown as net.SocketConstructorOpts));
}
