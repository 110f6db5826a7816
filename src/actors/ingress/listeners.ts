// The listening sockets: the first ingress binds them and tells the others the descriptors, which they share.
import { ErrorCodes, RingmqError } from '../../base/errors.ts';
import type { Listener } from '../../runtime/transport.ts';
import type { ActorContext } from '../context.ts';
import { Positions } from '../context.ts';
import { PEER_NONE } from './client-connection.ts';
import type { Connections } from './connections.ts';
import type { StoreHost } from './store-host.ts';

export class Listeners {
  readonly #context: ActorContext;
  readonly #connections: Connections;
  readonly #host: StoreHost;
  readonly #open: Listener[] = [];

  constructor(context: ActorContext, connections: Connections, host: StoreHost) {
    this.#context = context;
    this.#connections = connections;
    this.#host = host;
  }

  async open(): Promise<void> {
    const { index, positions, settings } = this.#context;
    if (index === 0) await this.#bind();
    else await this.#share();
    this.#host.set(settings.brokerIP1, positions.get(Positions.listenPort));
  }

  async #bind(): Promise<void> {
    const { positions, settings } = this.#context;
    // A restart takes the same ports again, also where any would do at first: clients and name servers know them.
    const main = await this.#listen(positions.get(Positions.listenPort) || settings.listenPort, -1, false);
    if (settings.vipListenPort >= 0) {
      const vip = await this.#listen(positions.get(Positions.vipPort) || settings.vipListenPort, -1, true);
      positions.set(Positions.vipFd, vip.fd + 1);
      positions.set(Positions.vipPort, vip.port);
    }
    // The port goes last: who sees it may use everything.
    positions.set(Positions.listenFd, main.fd + 1);
    positions.set(Positions.listenPort, main.port);
  }

  async #share(): Promise<void> {
    const { positions } = this.#context;
    const fd = positions.get(Positions.listenFd) - 1;
    if (fd < 0) {
      throw new RingmqError(
        ErrorCodes.address,
        'the listening socket cannot be shared by several ingress actors on this system: set ingressCount=1',
      );
    }
    await this.#listen(positions.get(Positions.listenPort), fd, false);
    const vipFd = positions.get(Positions.vipFd) - 1;
    if (vipFd >= 0) await this.#listen(positions.get(Positions.vipPort), vipFd, true);
  }

  async #listen(port: number, fd: number, vip: boolean): Promise<Listener> {
    const { transport, settings } = this.#context;
    const options = { host: settings.bindAddress, port };
    const listener = await transport.listen(fd < 0 ? options : { ...options, fd }, this.#connections.handlerFor(PEER_NONE, vip));
    this.#open.push(listener);
    return listener;
  }

  async close(): Promise<void> {
    await Promise.all(this.#open.map((listener) => listener.close()));
    this.#open.length = 0;
  }
}
