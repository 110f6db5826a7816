// Addresses as settings spell them: lists of name servers, wildcards and loopback.

export interface PeerAddress {
  readonly host: string;
  readonly port: number;
}

/** `host:port;host:port`; the settings were checked at the start. */
export function nameServerAddresses(list: string): PeerAddress[] {
  return list
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => {
      const colon = part.lastIndexOf(':');
      return { host: part.slice(0, colon), port: Number(part.slice(colon + 1)) };
    });
}

export function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.');
}

/** Where something that is bound to this address can be reached from the same host. */
export function reachable(bindAddress: string): string {
  return isWildcard(bindAddress) ? '127.0.0.1' : bindAddress;
}
