// Captured requests of stock clients, and hand-made odd ones, must get from the broker what they got from Apache's: code and names of fields.
import test, { type ExecutionContext } from 'ava';
import { startBroker } from '../../src/index.ts';
import { FrameDecoder } from '../../src/protocol/frame.ts';
import { Header, readHeader } from '../../src/protocol/header.ts';
import { type GoldenFrame, goldenAbsent, goldenClients, goldenFrames, goldenProbes } from '../protocol/golden.ts';
import { captureDifferences, type Difference, fieldDifferences, probeDifferences, servedCodes } from './golden-differences.ts';
import { type Captured, World } from './golden-world.ts';
import type { Answer } from './wire-client.ts';

const NOT_SUPPORTED = 3;

async function openWorld(t: ExecutionContext): Promise<World> {
  const broker = await startBroker({ memory: true });
  const world = await World.open(broker.port);
  t.teardown(async () => {
    world.close();
    await broker.close();
  });
  return world;
}

function textFields(ext: Record<string, unknown> | undefined): Record<string, string> {
  return Object.fromEntries(Object.entries(ext ?? {}).map(([name, value]) => [name, String(value)]));
}

function fieldsOf(frame: Buffer): { opaque: number; ext: Record<string, string>; body: string } {
  const header = new Header();
  let body = '';
  new FrameDecoder({
    onFrame: (bytes, headerAt, headerSize, codec, bodyAt, bodySize) => {
      readHeader(bytes, headerAt, headerSize, codec, header);
      body = bytes.toString('utf8', bodyAt, bodyAt + bodySize);
      return true;
    },
  }).push(frame);
  return { opaque: header.opaque, ext: header.fields(), body };
}

/** Fields that ours has as well or lacks, by what Apache answered; '' where the names are the same. */
function fieldsText(expected: Record<string, unknown> | undefined | null, seen: Answer): string {
  const wanted = Object.keys(expected ?? {});
  const given = Object.keys(seen.ext);
  const lacking = wanted.filter((name) => !given.includes(name));
  const added = given.filter((name) => !wanted.includes(name));
  return [...lacking.map((name) => `-${name}`), ...added.map((name) => `+${name}`)].sort().join(' ');
}

const usedRows = new Set<Difference>();
let comparedCount = 0;

class Report {
  compared = 0;
  notServed = 0;
  differing = 0;
  unanswered = 0;
  readonly faults: string[] = [];
  readonly #table: readonly Difference[];

  constructor(table: readonly Difference[]) {
    this.#table = table;
  }

  add(
    title: string,
    code: number,
    about: string,
    apache: number,
    expectedExt: Record<string, unknown> | null | undefined,
    seen: Answer,
  ): void {
    if (!servedCodes.has(code)) {
      this.notServed++;
      if (seen.code !== NOT_SUPPORTED) this.faults.push(`${title}: not served, so 3 was expected ours=${seen.code}`);
      return;
    }
    const difference = this.#table.find((row) => row.code === code && row.apache === apache && row.about.test(about));
    if (difference !== undefined) {
      usedRows.add(difference);
      this.differing++;
      if (!difference.ours.includes(seen.code))
        this.faults.push(`${title}: differs otherwise than listed ours=${seen.code} listed=${difference.ours}`);
      return;
    }
    this.compared++;
    comparedCount++;
    if (seen.code !== apache) this.faults.push(`${title}: apache=${apache} ours=${seen.code} ${seen.remark.slice(0, 100)}`);
    else if (expectedExt !== undefined) {
      const fields = fieldsText(expectedExt, seen);
      const listed = fieldDifferences.some((row) => row.code === code && row.answer === apache && row.fields === fields);
      if (fields !== '' && !listed) this.faults.push(`${title}: code=${apache} fields ${fields}`);
    }
  }

  get text(): string {
    const { compared, differing, notServed, unanswered } = this;
    return `compared=${compared} differing on purpose=${differing} not served=${notServed} unanswered in the capture=${unanswered}`;
  }
}

function capturedOf(frame: GoldenFrame, answers: ReadonlyMap<number, GoldenFrame>): Captured | null {
  const answer = frame.pair === undefined ? undefined : answers.get(frame.pair);
  const noted = /^answered (\d+)/.exec((frame as GoldenFrame & { note?: string }).note ?? '')?.[1];
  if (answer === undefined && noted === undefined) return null;
  return {
    connection: frame.conn,
    code: frame.code,
    opaque: frame.opaque,
    frame: Buffer.from(frame.b64, 'base64'),
    ext: textFields(frame.ext),
    expectedCode: answer?.code ?? Number(noted),
    expectedExt: answer === undefined ? undefined : textFields(answer.ext),
  };
}

if (goldenAbsent !== undefined) {
  test('golden: the data is beside the project', (t) => {
    t.log(goldenAbsent);
    t.pass();
  });
}

for (const name of goldenClients()) {
  const frames = goldenFrames(name);
  const requests = frames.filter((frame) => /^(broker|vip)/.test(frame.conn) && frame.dir === 'c2s' && (frame.flag & 1) === 0);
  if (requests.length === 0) continue;
  const answers = new Map(frames.map((frame) => [frame.n, frame]));

  test.serial(`golden: ${name} gets the answers it got from Apache's broker`, async (t) => {
    const world = await openWorld(t);
    const report = new Report(captureDifferences);
    for (const request of requests) {
      const captured = capturedOf(request, answers);
      if (captured === null) {
        report.unanswered++;
        continue;
      }
      const seen = await world.replay(captured);
      const title = `${name} n=${request.n} ${request.code} ${JSON.stringify(captured.ext).slice(0, 300)}`;
      if (seen === null) report.faults.push(`${title}: no answer`);
      else report.add(title, request.code, JSON.stringify(captured.ext), captured.expectedCode, captured.expectedExt, seen);
    }
    t.log(report.text);
    if (report.faults.length > 0) t.fail(report.faults.join('\n'));
    else t.pass();
  });
}

test.serial('golden: odd requests get the answers they got from Apache', async (t) => {
  const probes = goldenProbes().filter((probe) => probe.to.startsWith('broker'));
  if (probes.length === 0) {
    t.log(goldenAbsent ?? 'no probes');
    t.pass();
    return;
  }
  const world = await openWorld(t);
  const report = new Report(probeDifferences);
  for (const probe of probes) {
    const frame = Buffer.from(probe.request, 'base64');
    const { opaque } = fieldsOf(frame);
    if (probe.answer === null) {
      report.unanswered++;
      continue;
    }
    const seen = await world.raw(probe.to, opaque, frame);
    const title = `${probe.code} ${probe.name}`;
    if (seen === null) report.faults.push(`${title}: no answer`);
    else report.add(title, probe.code, probe.name, probe.answer, probe.answerExt ?? {}, seen);
  }
  t.log(report.text);
  if (report.faults.length > 0) t.fail(report.faults.join('\n'));
  else t.pass();
});

test.after('golden: the table of differences is not out of date, and enough was compared', (t) => {
  if (goldenAbsent !== undefined) {
    t.pass();
    return;
  }
  const unused = [...captureDifferences, ...probeDifferences].filter((row) => !usedRows.has(row));
  t.deepEqual(unused, []);
  t.true(comparedCount > 650, `compared=${comparedCount}`);
});
