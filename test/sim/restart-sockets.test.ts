// The same restart over real sockets: the port is free for the successor, old connections are closed, new ones are served.
import { once } from 'node:events';
import net from 'node:net';
import test from 'ava';
import { Ingress } from '../../src/actors/ingress/ingress.ts';
import { startBroker } from '../../src/index.ts';
import { RequestCodes } from '../../src/protocol/codes.ts';
import { FrameDecoder, HeaderCodecs } from '../../src/protocol/frame.ts';
import { encodeFrame, Header, readHeader } from '../../src/protocol/header.ts';
import { bodyOf, sendFields } from './sim-client.ts';

/** One request on a connection: the answer's code and queue offset. */
async function askSend(socket: net.Socket, name: string): Promise<string> {
  const ext = sendFields('Orders', 0, name);
  const parts = { code: RequestCodes.SEND_MESSAGE_V2, opaque: 1, flag: 0, codec: HeaderCodecs.json, version: 477, language: 'JAVA', ext };
  return new Promise((resolve, reject) => {
    const decoder = new FrameDecoder({
      onFrame: (bytes, headerAt, headerSize, codec) => {
        const header = new Header();
        readHeader(bytes, headerAt, headerSize, codec, header);
        resolve(`${header.code} ${header.field('queueOffset')}`);
        return true;
      },
    });
    socket.on('data', (chunk) => decoder.push(chunk));
    socket.once('close', () => reject(new Error('closed without an answer')));
    socket.write(encodeFrame({ ...parts, body: bodyOf(name, 10) }));
  });
}

test.serial('restart: an ingress that failed takes the same port again', async (t) => {
  const broker = await startBroker({ memory: true });
  t.teardown(() => broker.close());
  const { doWork } = Ingress.prototype;
  t.teardown(() => {
    Ingress.prototype.doWork = doWork;
  });
  const before = net.connect(broker.port, '127.0.0.1');
  before.on('error', () => {});
  t.is(await askSend(before, 'm0'), '0 0');
  let failures = 0;
  Ingress.prototype.doWork = function (this: Ingress): number {
    if (failures++ === 0) throw new Error('failed on purpose');
    return doWork.call(this);
  };
  before.write(Buffer.from([0]));
  // Whether the peer resets or ends it, it is closed; `once` of node:events would throw at a reset.
  await new Promise((resolve) => before.once('close', resolve));
  for (let attempt = 0; ; attempt++) {
    const after = net.connect(broker.port, '127.0.0.1');
    t.teardown(() => after.destroy());
    after.on('error', () => {});
    try {
      await once(after, 'connect');
      t.is(await askSend(after, 'm1'), '0 1');
      return;
    } catch (error) {
      if (attempt === 1_000) throw error;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
});
