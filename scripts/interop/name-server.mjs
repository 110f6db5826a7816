// Our broker registers with Apache's own name server, and stock clients find it there.
import { join } from 'node:path';
import { ApacheNameServer } from './apache.mjs';
import { runKit } from './kit.mjs';
import { throughApache } from './parts.mjs';
import { tempFolder } from './places.mjs';
import { offerRestarts } from './restarts.mjs';
import { registered } from './wire.mjs';

export async function checkNameServer(Ours, tally, options) {
  console.log("\n== Apache's name server ==");
  const folder = tempFolder('namesrv');
  const nameServer = new ApacheNameServer(join(folder, 'namesrv'));
  let broker;
  let restarts;
  try {
    const found = await tally.check("name server: the broker registers with Apache's", async () => {
      await nameServer.start();
      broker = new Ours({ folder: join(folder, 'broker'), namesrv: nameServer.address });
      await broker.start();
      await registered(nameServer.address, broker.broker, 30_000);
    });
    if (!found) return;
    restarts = await offerRestarts(broker, folder);
    await runKit({ ...throughApache, name: `${throughApache.name} through Apache's name server` }, broker, restarts, tally, options);
  } finally {
    restarts?.close();
    if (broker?.running) await broker.stop().catch((error) => console.log(error.message));
    await nameServer.stop();
  }
}
