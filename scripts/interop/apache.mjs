// Apache's own name server and broker 5.5.0 as processes on the loopback, with small heaps.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Child, run } from './children.mjs';
import { peer } from './places.mjs';
import { freeBlock } from './ports.mjs';
import { answering, registered } from './wire.mjs';

const opens = ['java.base/java.nio', 'java.base/sun.nio.ch'].flatMap((name) => ['--add-opens', `${name}=ALL-UNNAMED`]);
const exports = ['--add-exports', 'java.base/jdk.internal.misc=ALL-UNNAMED'];

/** Resolved once by Maven and kept where the measuring tools keep it. */
export async function classPath() {
  await run('bash', [peer, 'prepare', 'apache-lean'], 600_000);
  const cache = process.env.PERF_CACHE ?? join(process.env.TMPDIR ?? tmpdir(), 'ringmq-perf-cache');
  return readFileSync(join(cache, 'apache.cp'), 'utf8').trim();
}

async function java(folder, heap, startUp, settings) {
  mkdirSync(join(folder, 'home', 'conf'), { recursive: true });
  const file = join(folder, `${startUp.split('.').at(-1)}.conf`);
  writeFileSync(
    file,
    Object.entries(settings)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  );
  const own = [`-Duser.home=${folder}`, '-Drocketmq.log.loadconfig=false', `-Drocketmq.home.dir=${join(folder, 'home')}`];
  const args = [`-Xms${heap}`, `-Xmx${heap}`, ...opens, ...exports, ...own, '-cp', await classPath(), startUp, '-c', file];
  return new Child('java', args, { cwd: folder, env: { ...process.env, ROCKETMQ_HOME: join(folder, 'home') } });
}

export class ApacheNameServer {
  #child;
  #port;

  constructor(folder) {
    this.folder = folder;
  }

  async start() {
    this.#port ??= await freeBlock();
    const port = this.#port;
    this.address = `127.0.0.1:${port}`;
    this.#child = await java(this.folder, '256m', 'org.apache.rocketmq.namesrv.NamesrvStartup', {
      listenPort: port,
      bindAddress: '127.0.0.1',
    });
    await answering(this.address, 60_000, this.#child);
  }

  async stop() {
    await this.#child?.stop(30_000);
  }

  get running() {
    return this.#child !== undefined && this.#child.end === undefined;
  }
}

export class ApacheBroker {
  name = 'Apache RocketMQ';
  #child;
  #nameServer;

  /** @param options folder, settings on top, store (another's), namesrv; without one its own is started beside it */
  constructor({ folder, store = join(folder, 'store'), settings = {}, namesrv }) {
    this.folder = folder;
    this.namesrv = namesrv;
    this.store = store;
    this.settings = {
      brokerClusterName: 'DefaultCluster',
      brokerName: 'broker-a',
      brokerId: 0,
      brokerIP1: '127.0.0.1',
      bindAddress: '127.0.0.1',
      storePathRootDir: store,
      storePathCommitLog: join(store, 'commitlog'),
      autoCreateTopicEnable: true,
      enablePropertyFilter: true,
      recallMessageEnable: true,
      transactionTimeOut: 2000,
      transactionCheckInterval: 2000,
      waitTimeMillsInSendQueue: 10000, // on a busy machine its 200 ms refuse bursts of sends
      ...settings,
    };
  }

  async start() {
    if (this.namesrv === undefined) this.#nameServer = new ApacheNameServer(join(this.folder, 'namesrv'));
    if (this.#nameServer?.running === false) {
      await this.#nameServer.start();
      this.namesrv = this.#nameServer.address;
    }
    this.settings.listenPort ??= await freeBlock();
    const port = this.settings.listenPort;
    this.settings.haListenPort ??= port + 1;
    this.settings.namesrvAddr = this.namesrv;
    this.broker = `127.0.0.1:${port}`;
    this.#child = await java(this.folder, '1g', 'org.apache.rocketmq.broker.BrokerStartup', this.settings);
    await answering(this.broker, 90_000, this.#child);
    await registered(this.namesrv, this.broker, 60_000, this.#child);
  }

  /** Its exit code after TERM is 143 (the JVM's), in good order all the same. */
  async stopBroker() {
    const { code, signal } = await this.#child.stop(60_000);
    if (signal === 'SIGKILL') throw new Error("Apache's broker did not stop within 60 s");
    return code;
  }

  async stop() {
    await this.stopBroker();
    await this.#nameServer?.stop();
  }

  /** From one moment to the next; its own name server is stopped in good order. */
  async kill() {
    this.#child.kill('SIGKILL');
    await this.#child.ended;
    await this.#nameServer?.stop();
  }

  async restart() {
    await this.stopBroker();
    await this.start();
  }

  get running() {
    return this.#child !== undefined && this.#child.end === undefined;
  }
}
