#!/usr/bin/env node
// Starts a name server on its own.
import { systemClock } from './base/clock.ts';
import { errorText, RingmqError } from './base/errors.ts';
import { createLog } from './base/log.ts';
import { helpText, loadFor, parseCommandLine } from './command-line.ts';
import { settingsPage } from './config/settings-page.ts';
import { kvConfigFault } from './nameserver/kv-config.ts';
import { NameServer } from './nameserver/name-server.ts';
import { Doorbell, doorbellMemorySize } from './runtime/doorbell.ts';
import { Duty } from './runtime/duty.ts';
import { NodeTransport } from './runtime/node-transport.ts';
import { ReactiveRunner } from './runtime/reactive-runner.ts';
import { NodeFiles } from './store/files/node-files.ts';
import { StateTextStore } from './store/state-text-store.ts';
import { VERSION } from './version.ts';

function refuse(error: unknown): never {
  process.stderr.write(`ringmq-namesrv: ${errorText(error)}\n`);
  process.exit(error instanceof RingmqError && error.code === 'config' ? 2 : 1);
}

async function main(): Promise<void> {
  const line = parseCommandLine(process.argv.slice(2), 'nameServer');
  if (line.help) return void process.stdout.write(helpText('namesrv.js'));
  if (line.version) return void process.stdout.write(`${VERSION}\n`);
  if (line.settings) return void process.stdout.write(settingsPage());
  const { settings, warnings } = loadFor(line);
  for (const warning of warnings) process.stderr.write(`ringmq-namesrv: warning: ${warning}\n`);
  const log = createLog(settings.logLevel, 'name-server');
  const files = new NodeFiles();
  const transport = new NodeTransport({
    onFault: (error) => log.error('a connection was closed by an error of ours', { error: errorText(error) }),
  });
  const server = new NameServer({
    settings,
    transport,
    clock: systemClock,
    log,
    kvStore: new StateTextStore(files, settings.kvConfigPath, log, kvConfigFault),
    settingsStore: new StateTextStore(files, settings.configStorePath, log),
  });
  const duty = new Duty(systemClock, (_, error) => refuse(error));
  const runner = new ReactiveRunner(duty, new Doorbell(new SharedArrayBuffer(doorbellMemorySize(1)), 0), systemClock);
  duty.add(server, { cycle: () => {} });
  await duty.start(server.name);
  runner.start();
  let stopping = false;
  const stop = (): void => {
    if (stopping) process.exit(1);
    stopping = true;
    duty
      .stop(server.name)
      .then(() => transport.closeAll())
      .then(() => process.exit(0), refuse);
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  process.stdout.write(`RingMQ name server ${VERSION}, Node ${process.version}, listening on ${settings.bindAddress}:${server.port}\n`);
  process.stdout.write(
    `ready broker=- namesrv=${settings.bindAddress === '0.0.0.0' ? '127.0.0.1' : settings.bindAddress}:${server.port} pid=${process.pid}\n`,
  );
}

main().catch(refuse);
