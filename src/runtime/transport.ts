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
   * Hands bytes to the peer in order. They must not change until `onWritten` has been told of them: at once when the kernel
   * takes them, later where the peer is slow.
   */
  write(bytes: Uint8Array): void;
  /** Stops and continues onData; the peer then meets TCP back-pressure. */
  pause(): void;
  resume(): void;
  /** Sends what was written, then closes. */
  end(): void;
  /** Closes at once. */
  destroy(): void;
}

export interface ConnectionHandler {
  onOpen(connection: Connection): void;
  /** `chunk` is valid only during the call. Not called while paused. */
  onData(connection: Connection, chunk: Uint8Array): void;
  /** Everything passed to one earlier `write` has left; in the order of the writes. */
  onWritten(connection: Connection, bytes: Uint8Array): void;
  /** Exactly once for every connection that was opened or tried, last of all its events. */
  onClose(connection: Connection, error?: Error): void;
}

export interface Listener {
  readonly host: string;
  readonly port: number;
  /** The listening socket's descriptor, with which other threads share the port; -1 where there is none. */
  readonly fd: number;
  /** Stops accepting; connections live on. */
  close(): Promise<void>;
}

export interface ListenOptions {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  /** Shares this listening descriptor of another thread instead of binding. */
  readonly fd?: number;
}

export interface Transport {
  /** Fails with RingmqError `address` where the address is in use or not ours. */
  listen(options: ListenOptions, handler: ConnectionHandler): Promise<Listener>;
  /** onOpen or onClose follows. */
  connect(host: string, port: number, handler: ConnectionHandler): Connection;
}
