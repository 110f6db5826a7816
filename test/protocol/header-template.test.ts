// Headers read by the template of one that came before, against the same ones read by themselves.
import test from 'ava';
import { SeededRandom } from '../../src/base/random.ts';
import { RequestCodes } from '../../src/protocol/codes.ts';
import { encodePullRequest, PullRequest, readPullRequest } from '../../src/protocol/commands/pull-message.ts';
import { encodeSendRequest, readSendRequest, SendRequest } from '../../src/protocol/commands/send-message.ts';
import { int64Of } from '../../src/protocol/ext.ts';
import { type HeaderCodec, HeaderCodecs } from '../../src/protocol/frame.ts';
import { encodeFrame, type FieldSpan, Header, readHeader } from '../../src/protocol/header.ts';
import { cut, goldenClients, goldenFrames } from './golden.ts';

/** What a header says, with the requests that are read from it. */
function meaning(header: Header, send: SendRequest, pull: PullRequest): unknown {
  const { code, language, version, opaque, flag, remark } = header;
  const sendFault = readSendRequest(header, send);
  const { group, topic, defaultTopic, defaultTopicQueueCount, queueId, sysFlag, bornTimeMs, reconsumeTimes } = send;
  const { unitMode, maxReconsumeTimes, batch, properties } = send;
  const sent = [group, topic, defaultTopic, defaultTopicQueueCount, queueId, sysFlag, bornTimeMs, send.flag, reconsumeTimes];
  const bytes = Buffer.alloc(Math.max(1, send.propertiesSizeMax));
  const written = bytes.toString('latin1', 0, send.writeProperties(bytes, 0));
  const span: FieldSpan = { bytes, at: 0, size: 0 };
  const found = send.findProperties(span) ? span.bytes.toString('latin1', span.at, span.at + span.size) : written;
  const pullFault = readPullRequest(header, pull);
  const { offset, maxCount, commitOffset, suspendMs, subscription, subVersion, expressionType } = pull;
  const pulled = [pull.group, pull.topic, pull.queueId, offset, maxCount, pull.sysFlag, commitOffset, suspendMs];
  const numbers = Object.fromEntries(Object.keys(header.fields()).map((name) => [name, int64Of(header, name)]));
  return {
    ...{ code, language, version, opaque, flag, remark, fields: header.fields(), numbers, sendFault, pullFault },
    sent: [...sent, unitMode, maxReconsumeTimes, batch, properties, written, found],
    pulled: [...pulled, subscription, subVersion, expressionType],
  };
}

/** One reader that lives on, as an ingress has it, and what is new for each header. */
class Pair {
  readonly header = new Header();
  readonly #own = this.header.table;
  readonly #send = new SendRequest();
  readonly #pull = new PullRequest();
  /** Headers that were read by a template. */
  hits = 0;

  /** Both meanings of a header that lies at an odd place in front of other bytes; the second is the right one. */
  read(bytes: Buffer, codec: HeaderCodec, place: number): [unknown, unknown] {
    const around = Buffer.concat([Buffer.alloc(place, 0x22), bytes, Buffer.from('","i":"x"}}00000000')]);
    const fault = readHeader(around, place, bytes.length, codec, this.header);
    const seen = fault ?? meaning(this.header, this.#send, this.#pull);
    if (fault === null && this.header.table !== this.#own) this.hits++;
    const fresh = new Header();
    const wanted = readHeader(bytes, 0, bytes.length, codec, fresh) ?? meaning(fresh, new SendRequest(), new PullRequest());
    return [seen, wanted];
  }
}

function headerOf(frame: Buffer): Buffer {
  return Buffer.from(cut(frame).header);
}

const random = new SeededRandom(21);
const pick = <T>(items: readonly T[]): T => items[random.below(items.length)] as T;
const letters = 'aB"\\\u0001\u0002\n/é标\u007f😀x';
const someText = (sizeMax: number): string => Array.from({ length: random.below(sizeMax + 1) }, () => pick([...letters])).join('');

/** Requests of one client, whose next is like the last but for some values. */
function sendHeader(codec: HeaderCodec, code: number, round: number): Buffer {
  const request = new SendRequest();
  request.group = round % 400 < 200 ? 'G' : pick(['G', 'other', 'a-long-group-name']);
  request.topic = 'T';
  request.defaultTopic = 'TBW102';
  request.defaultTopicQueueCount = 4;
  request.queueId = round % 100 < 50 ? 3 : random.below(20) - 2;
  request.bornTimeMs = 1_764_500_000_000 + round;
  request.properties = `UNIQ_KEY\u0001${round.toString(16).padStart(32, '0')}\u0002WAIT\u0001true\u0002${random.below(5) === 0 ? someText(30) : ''}`;
  request.batch = round % 1000 > 900;
  const opaque = pick([round, random.below(2 ** 31), -random.below(2 ** 31), 0]);
  const ext = encodeSendRequest(code, request);
  if (random.below(40) === 0) ext[pick(Object.keys(ext))] = '';
  return headerOf(encodeFrame({ code, opaque, flag: 0, version: 479, language: 'JAVA', ext, codec }));
}

function pullHeader(codec: HeaderCodec, round: number): Buffer {
  const request = new PullRequest();
  request.group = 'G';
  request.topic = pick(['T', 'U']);
  request.queueId = random.below(4);
  request.offset = random.below(2 ** 31) * pick([1, 1, 2 ** 20]);
  request.maxCount = 32;
  request.subscription = round % 300 < 150 ? '*' : pick(['*', '', 'TagA || TagB']);
  return headerOf(encodeFrame({ code: RequestCodes.PULL_MESSAGE, opaque: round, flag: 0, codec, ext: encodePullRequest(request) }));
}

function mutate(bytes: Buffer): Buffer {
  const marks = Buffer.from('{}",:\\u01aeft-.n \n');
  const kind = random.below(8);
  if (kind === 0) return bytes.subarray(0, random.below(bytes.length + 1));
  if (kind === 1) {
    const at = random.below(bytes.length);
    return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + random.below(3))]);
  }
  if (kind === 2) {
    const at = random.below(bytes.length);
    return Buffer.concat([
      bytes.subarray(0, at),
      Buffer.from(pick(['0', '"', '\\', '\\u0041', '\\u00e9', ',', '-', '\0'])),
      bytes.subarray(at),
    ]);
  }
  const out = Buffer.from(bytes);
  for (let i = random.below(2); i >= 0; i--) {
    out[random.below(out.length)] = random.below(3) === 0 ? random.below(256) : (marks[random.below(marks.length)] as number);
  }
  return out;
}

const codes = [RequestCodes.SEND_MESSAGE_V2, RequestCodes.SEND_MESSAGE, RequestCodes.SEND_BATCH_MESSAGE];

test('header template: whatever varies or is broken, a header means what it means by itself', (t) => {
  const pair = new Pair();
  const rounds = 20_000;
  let faults = 0;
  for (let round = 0; round < rounds; round++) {
    const codec = pick(Object.values(HeaderCodecs));
    const sound = random.below(4) === 0 ? pullHeader(codec, round) : sendHeader(codec, pick(codes), round);
    const bytes = random.below(4) === 0 ? mutate(sound) : sound;
    const [seen, wanted] = pair.read(bytes, codec, random.below(9));
    if (typeof wanted === 'string') faults++;
    if (JSON.stringify(seen) !== JSON.stringify(wanted)) t.deepEqual(seen, wanted, bytes.toString('latin1'));
  }
  t.true(pair.hits > rounds * 0.4, `by template: ${pair.hits} of ${rounds}`);
  t.true(faults > rounds * 0.05, `faults: ${faults} of ${rounds}`);
});

test('header template: bare values, escapes and integers of every kind', (t) => {
  const pair = new Pair();
  const integers = [
    '0',
    '7',
    '-7',
    '-0',
    '00',
    '01',
    '2147483647',
    '2147483648',
    '-2147483648',
    '-2147483649',
    '12345678901234567890',
    '',
    '-',
  ];
  const values = [
    ...integers,
    'true',
    'false',
    'null',
    '1.5',
    '1e3',
    '"3"',
    '"\\u0033"',
    '"\\u00e9"',
    '"\\ud83d\\ude00"',
    '"\\x"',
    '"\t"',
    '"\\"',
    '""',
  ];
  for (let round = 0; round < 6000; round++) {
    // Mostly of one form, as those of a client are.
    const form = Math.floor(round / 500) % 2 === 0 ? ['0', '7', '-7', '31'] : ['"3"', '"\\u0033"', '"a\\nb"', '""'];
    const [e, i] = [random.below(4) === 0 ? pick(values) : pick(form), random.below(4) === 0 ? pick(values) : pick(form)];
    const opaque = round % 5 === 0 ? pick(integers) : String(round);
    const other = random.below(8) !== 0 ? '' : `,"remark":${pick(values)}`;
    const text = `{"code":310,"extFields":{"a":"G","e":${e},"i":${i},"b":"T"},"flag":0,"language":"GO","opaque":${opaque}${other}}`;
    const [seen, wanted] = pair.read(Buffer.from(text), HeaderCodecs.json, 1);
    if (JSON.stringify(seen) !== JSON.stringify(wanted)) t.deepEqual(seen, wanted, text);
  }
  t.true(pair.hits > 1000, `by template: ${pair.hits}`);
});

test('header template: every golden header, again and again among its neighbours', (t) => {
  for (const client of goldenClients()) {
    const pair = new Pair();
    const frames = goldenFrames(client).map((line) => Buffer.from(line.b64, 'base64'));
    for (let again = 0; again < 3; again++) {
      for (const frame of frames) {
        const { codec } = cut(frame);
        const [seen, wanted] = pair.read(headerOf(frame), codec as HeaderCodec, again);
        if (JSON.stringify(seen) !== JSON.stringify(wanted)) t.deepEqual(seen, wanted);
      }
    }
    t.true(pair.hits > 0, client);
  }
  t.pass();
});

test('header template: two forms by turns have a template each, and a form that comes often stays among many that do not', (t) => {
  const pair = new Pair();
  const text = (name: string, round: number): Buffer =>
    Buffer.from(`{"code":310,"extFields":{"a":"G","${name}":"${round}"},"flag":0,"language":"JAVA","opaque":${round},"version":479}`);
  const by = (name: string, round: number): boolean => {
    const before = pair.hits;
    t.deepEqual(...pair.read(text(name, round), HeaderCodecs.json, 0));
    return pair.hits > before;
  };
  for (let round = 0; round < 200; round++) by(round % 2 === 0 ? 'x' : 'y', round);
  t.true(by('x', 1) && by('y', 1));
  for (let round = 0; round < 4000; round++) by(round % 4 === 0 ? 'x' : `other${round}`, round);
  t.true(by('x', 2));
});

test('header template: the same bytes in the other form are something else', (t) => {
  const pair = new Pair();
  const json = (opaque: number): Buffer => Buffer.from(`{"code":310,"extFields":{"a":"G"},"flag":0,"opaque":${opaque},"version":479}`);
  for (let round = 0; round < 100; round++) {
    const bytes = json(round);
    t.deepEqual(...pair.read(bytes, HeaderCodecs.json, 0));
    t.deepEqual(...pair.read(bytes, HeaderCodecs.binary, 0));
    const binary = sendHeader(HeaderCodecs.binary, 310, round);
    t.deepEqual(...pair.read(binary, HeaderCodecs.binary, 0));
    t.deepEqual(...pair.read(binary, HeaderCodecs.json, 0));
  }
});

test('header template: two readers do not share what varies', (t) => {
  const [one, other] = [new Header(), new Header()];
  for (let round = 0; round < 100; round++) {
    const [a, b] = [sendHeader(HeaderCodecs.json, 310, round), sendHeader(HeaderCodecs.json, 310, round + 1000)];
    t.is(readHeader(a, 0, a.length, HeaderCodecs.json, one), null);
    const before = one.field('i');
    t.is(readHeader(b, 0, b.length, HeaderCodecs.json, other), null);
    t.is(one.field('i'), before);
    t.not(other.field('i'), before);
  }
});
