// Errors of addresses: with the system's codes, and as one line that a person can act on.
import { ErrorCodes, RingmqError } from '../base/errors.ts';
import type { ListenOptions } from './transport.ts';

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is in use; stop what listens there or choose another port',
  EACCES: 'this user may not bind the port; choose one above 1023 or grant the right',
  EADDRNOTAVAIL: 'this machine has no such address; use one of its own, or 0.0.0.0 for all of them',
  EBADF: 'the shared descriptor is no open listening socket; pass the fd of a listener that is open',
  ENOTFOUND: 'the host name is unknown; use an address of this machine, or 0.0.0.0 for all of them',
};

/** An error that carries a code as the system's do. */
export function systemError(code: string, message: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${message} (${code})`), { code });
}

/** @param reason the system's error code, such as EADDRINUSE. */
export function addressError(options: ListenOptions, reason: string, cause?: unknown): RingmqError {
  const why = reasons[reason] ?? 'the system refused; see the reason';
  const asked = options.fd === undefined ? { host: options.host, port: options.port } : { fd: options.fd };
  return new RingmqError(ErrorCodes.address, `cannot listen: ${why}`, { ...asked, reason }, cause);
}
