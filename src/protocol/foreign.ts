// Recognises the greetings of other protocols, so that a client at the wrong port is told so and not "frame of 1.3 GB".

const httpMethods = ['GET ', 'POST', 'PUT ', 'HEAD', 'DELE', 'OPTI', 'PATC', 'CONN', 'TRAC'];

/** What the first bytes of a connection look like, if not like a frame; they are only asked for when they are no frame. */
export function foreignProtocol(bytes: Uint8Array, at: number, end: number): string | undefined {
  let start = '';
  for (let i = at; i < end && i < at + 4; i++) start += String.fromCharCode(bytes[i] as number);
  const first = start.charCodeAt(0);
  if (first === 0x16 && start.charCodeAt(1) === 3) return 'a TLS hello; this port speaks plain RocketMQ remoting, use it without TLS';
  if (start === 'PRI ') return 'an HTTP/2 greeting, as of a gRPC client; this port speaks RocketMQ remoting, use a remoting client';
  if (httpMethods.includes(start)) return 'an HTTP/1 request; this port speaks RocketMQ remoting, use the port of the console';
  if (start === 'PROX' || start === '\r\n\r\n') return 'a PROXY protocol header; turn it off in the proxy in front of this port';
  if (start.startsWith('*') && start.charCodeAt(1) >= 0x30 && start.charCodeAt(1) <= 0x39) return redis;
  if (start === 'PING' || start === 'AUTH' || start === 'HELL') return redis;
  return undefined;
}

const redis = 'a Redis (RESP) command; this port speaks RocketMQ remoting, use the port of the Redis server';
