// Sockets as actors see them: one implementation over node:net, one in memory for deterministic tests.

export interface Connection {
  /** Unique within the transport that made it; never used again. */
  readonly id: number;
  /** The peer's address; an IPv4 address mapped into IPv6 is given as the plain IPv4 text. */
  readonly remoteHost: string;
  readonly remotePort: number;
  /** Bytes written that the peer's side has not taken yet. */
  readonly bufferedBytes: number;
  /**
   * Hands bytes to the peer in order. They must not change until `onWritten` has been told of them: soon when the kernel
   * takes them (but never inside this call), later where the peer is slow. Allowed before onOpen; ignored after `end`, `destroy`
   * or the peer's close.
   */
  write(bytes: Uint8Array): void;
  /** Stops and continues onData; the peer then meets TCP back-pressure. A paused connection may not see that its peer closes. */
  pause(): void;
  resume(): void;
  /**
   * Sends what was written, then closes. What still arrives is dropped, a pause is lifted. onClose waits for the peer to close its
   * side too: whoever cannot trust it to do so calls `destroy` later.
   */
  end(): void;
  /** Closes at once; what has not left is lost. Only onClose follows, never inside this call. */
  destroy(): void;
}

/**
 * No method is called from inside a call on a connection. One that throws closes its connection: onClose gets the error, and so
 * does the transport's `onFault`. A peer that closes its side closes the connection once our writes have left.
 */
export interface ConnectionHandler {
  onOpen(connection: Connection): void;
  /** `chunk` is valid only during the call. Not called while paused. */
  onData(connection: Connection, chunk: Uint8Array): void;
  /** All bytes of one earlier `write` (the same array) have left; in the order of the writes. */
  onWritten(connection: Connection, bytes: Uint8Array): void;
  /**
   * Exactly once for every connection that was opened or tried, last of all its events. Writes not told of by then may not have
   * arrived; their bytes are free.
   */
  onClose(connection: Connection, error?: Error): void;
}

export interface Listener {
  readonly host: string;
  readonly port: number;
  /** The listening socket's descriptor, with which other threads share the port while this listener is open; -1 where there is none. */
  readonly fd: number;
  /** Stops accepting; connections live on. */
  close(): Promise<void>;
}

export interface ListenOptions {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  /** Shares another thread's open listener, by a descriptor of its own, instead of binding; host and port are then not looked at. */
  readonly fd?: number;
}

export interface Transport {
  /** Fails with RingmqError `address` where the address is in use or not ours. */
  listen(options: ListenOptions, handler: ConnectionHandler): Promise<Listener>;
  /** onOpen or onClose follows. */
  connect(host: string, port: number, handler: ConnectionHandler): Connection;
}
