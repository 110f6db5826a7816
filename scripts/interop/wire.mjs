// One request over one connection in the JSON dialect: enough to see whether a broker or a name server serves.
import { connect } from 'node:net';

const codes = { route: 105, runtimeInfo: 28 };

/** @returns code, remark, fields and body of the answer. */
export function call(address, code, fields = {}, body = '') {
  const [host, port] = address.split(':');
  const header = Buffer.from(JSON.stringify({ code, language: 'OTHER', version: 477, opaque: 1, flag: 0, extFields: fields }));
  const sizes = Buffer.alloc(8);
  const content = Buffer.from(body);
  sizes.writeInt32BE(4 + header.length + content.length, 0);
  sizes.writeInt32BE(header.length, 4);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), host, () => socket.write(Buffer.concat([sizes, header, content])));
    let read = Buffer.alloc(0);
    socket.setTimeout(3000, () => socket.destroy(new Error(`no answer from ${address}`)));
    socket.on('error', reject);
    socket.on('close', () => reject(new Error(`${address} closed the connection`)));
    socket.on('data', (chunk) => {
      read = Buffer.concat([read, chunk]);
      if (read.length < 8 || read.length < 4 + read.readInt32BE(0)) return;
      const bodyAt = 8 + (read.readInt32BE(4) & 0xffffff);
      const answer = JSON.parse(read.toString('utf8', 8, bodyAt));
      resolve({
        code: answer.code,
        remark: answer.remark,
        fields: answer.extFields,
        body: read.toString('utf8', bodyAt, 4 + read.readInt32BE(0)),
      });
      socket.destroy();
    });
  });
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function until(what, limitMs, child, ask) {
  const end = Date.now() + limitMs;
  let last = 'not asked';
  while (Date.now() < end) {
    if (child?.end !== undefined) throw new Error(`${what}: the process ended, ${child.output.trim().slice(-400)}`);
    try {
      if (await ask()) return;
      last = 'not yet';
    } catch (error) {
      last = error.message;
    }
    await pause(100);
  }
  throw new Error(`${what}: not within ${limitMs / 1000} s (${last})`);
}

/** Waits until the address answers requests at all. */
export const answering = (address, limitMs, child) =>
  until(`${address} answers`, limitMs, child, async () => (await call(address, codes.runtimeInfo)).code >= 0);

/** Waits until the name server leads to that broker. */
export const registered = (namesrv, broker, limitMs, child) =>
  until(`${namesrv} leads to ${broker}`, limitMs, child, async () =>
    (await call(namesrv, codes.route, { topic: 'TBW102' })).body.includes(`"${broker}"`),
  );
