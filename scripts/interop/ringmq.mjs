// Our broker as a process: started with the settings that the kit asks for, stopped by TERM, started again in the same place.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Child } from './children.mjs';
import { main } from './places.mjs';
import { freeBlock } from './ports.mjs';

/** As in the kit's README; the transaction times are for scenarios of a later issue, and are accepted already. */
const kitSettings = {
  brokerClusterName: 'DefaultCluster',
  brokerName: 'broker-a',
  brokerIP1: '127.0.0.1',
  bindAddress: '127.0.0.1',
  autoCreateTopicEnable: true,
  enablePropertyFilter: true,
  recallMessageEnable: true,
  transactionTimeOut: 2000,
  transactionCheckInterval: 2000,
};

export class RingMQ {
  name = 'RingMQ';
  #child;

  /** @param options folder, store (where it lies elsewhere), settings on top of the kit's, namesrv of somebody else */
  constructor({ folder, store = join(folder, 'store'), settings = {}, namesrv }) {
    this.folder = folder;
    this.store = store;
    this.settings = {
      ...kitSettings,
      storePathRootDir: this.store,
      ...settings,
      ...(namesrv === undefined ? {} : { namesrvAddr: namesrv }),
    };
    this.namesrv = namesrv;
  }

  /** Its ports are chosen at the first start: clients have to find it in the same place after a restart. */
  async start() {
    for (let tries = 1; this.settings.listenPort === undefined; tries++) {
      this.settings.listenPort = await freeBlock();
      if (this.settings.namesrvAddr === undefined) this.settings.namesrvListenPort = await freeBlock();
      try {
        return await this.#start();
      } catch (error) {
        // Another run on this machine took the port that was free a second ago.
        if (tries === 3 || !/EADDRINUSE/.test(this.output)) throw error;
        delete this.settings.listenPort;
      }
    }
    return this.#start();
  }

  async #start() {
    mkdirSync(this.folder, { recursive: true });
    const file = join(this.folder, 'broker.conf');
    writeFileSync(
      file,
      Object.entries(this.settings)
        .map(([name, value]) => `${name}=${value}\n`)
        .join(''),
    );
    this.#child = new Child(process.execPath, [main, '-c', file], { cwd: this.folder });
    const [, broker, namesrv, pid] = await this.#child.printed(/^ready broker=(\S+) namesrv=(\S+) pid=(\d+)$/m, 30_000);
    this.broker = broker;
    this.namesrv = namesrv === '-' ? this.settings.namesrvAddr : namesrv;
    this.pid = Number(pid);
  }

  /** TERM, and the broker has to end by itself with code 0. */
  async stop() {
    const { code, signal } = await this.#child.stop(20_000);
    if (code !== 0) throw new Error(`the broker ended with ${code ?? signal} after TERM: ${this.#child.output.trim().slice(-400)}`);
  }

  /** From one moment to the next. */
  async kill() {
    this.#child.kill('SIGKILL');
    await this.#child.ended;
  }

  async restart() {
    await this.stop();
    await this.start();
  }

  get running() {
    return this.#child !== undefined && this.#child.end === undefined;
  }

  get output() {
    return this.#child?.output ?? '';
  }
}
