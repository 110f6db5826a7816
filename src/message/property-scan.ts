// One pass over the bytes of a message's properties that finds all the broker itself must know, without making a string.
import { equalBytes } from '../base/bytes.ts';
import { viewBelow } from '../base/views.ts';
import { PropertyNames } from './property-names.ts';

const names = {
  tags: Buffer.from(PropertyNames.tags),
  keys: Buffer.from(PropertyNames.keys),
  wait: Buffer.from(PropertyNames.wait),
  delay: Buffer.from(PropertyNames.delay),
  popCk: Buffer.from(PropertyNames.popCk),
  cluster: Buffer.from(PropertyNames.cluster),
  uniqueKey: Buffer.from(PropertyNames.uniqueKey),
  tranMsg: Buffer.from(PropertyNames.tranMsg),
  traceOn: Buffer.from(PropertyNames.traceOn),
  innerNum: Buffer.from(PropertyNames.innerNum),
  msgRegion: Buffer.from(PropertyNames.msgRegion),
  retryTopic: Buffer.from(PropertyNames.retryTopic),
  timerDelayMs: Buffer.from(PropertyNames.timerDelayMs),
  timerDelaySec: Buffer.from(PropertyNames.timerDelaySec),
  timerDeliverMs: Buffer.from(PropertyNames.timerDeliverMs),
  timer: Buffer.from('TIMER_'),
  true: Buffer.from('true'),
  false: Buffer.from('false'),
};

/** What `scanProperties` found; positions are those of values, -1 where there is none. One object is used again and again. */
export class PropertyScan {
  tagsAt = -1;
  tagsEnd = -1;
  keysAt = -1;
  keysEnd = -1;
  uniqueKeyAt = -1;
  uniqueKeyEnd = -1;
  retryTopicAt = -1;
  retryTopicEnd = -1;
  popCkAt = -1;
  popCkEnd = -1;
  delayAt = -1;
  delayEnd = -1;
  innerNumAt = -1;
  innerNumEnd = -1;
  timerDelaySecAt = -1;
  timerDelaySecEnd = -1;
  timerDelayMsAt = -1;
  timerDelayMsEnd = -1;
  timerDeliverMsAt = -1;
  timerDeliverMsEnd = -1;
  /** WAIT=false: the sender does not wait for disk or replica. */
  waitFalse = false;
  /** The delay level; 0 where there is none; NaN where the value is no whole number. */
  delayLevel = 0;
  /** TRAN_MSG=true: a half message. */
  tranMsg = false;
  /** Any name that starts with TIMER_. */
  hasTimer = false;
  hasCluster = false;
  hasMsgRegion = false;
  hasTraceOn = false;
  /** Also true of no properties at all: nothing is missing before more is appended. */
  endsWithSeparator = true;
  /** Pairs that no reader will see: without a name, a 0x01 or a value. */
  lostCount = 0;
  /** Separators inside values: a sender let user data with reserved characters through. */
  straySeparatorCount = 0;
  /** Bytes of pairs that the broker writes itself (see `isBrokerOwned`), each with its final separator. */
  cutSize = 0;
  /** The last pair is one of those, so that nothing is missing where it was. */
  lastIsCut = false;

  /** Of an empty text nobody is found by. */
  get hasTag(): boolean {
    return this.tagsEnd > this.tagsAt;
  }

  reset(): void {
    this.tagsAt = this.tagsEnd = this.keysAt = this.keysEnd = this.uniqueKeyAt = this.uniqueKeyEnd = -1;
    this.retryTopicAt = this.retryTopicEnd = this.popCkAt = this.popCkEnd = this.delayAt = this.delayEnd = -1;
    this.innerNumAt = this.innerNumEnd = this.timerDelaySecAt = this.timerDelaySecEnd = -1;
    this.timerDelayMsAt = this.timerDelayMsEnd = this.timerDeliverMsAt = this.timerDeliverMsEnd = -1;
    this.waitFalse = this.tranMsg = this.hasTimer = this.hasCluster = this.hasMsgRegion = this.hasTraceOn = false;
    this.endsWithSeparator = true;
    this.lastIsCut = false;
    this.delayLevel = this.lostCount = this.straySeparatorCount = this.cutSize = 0;
  }
}

/** Fills `into` anew from the properties in [at, end). */
export function scanProperties(b: Uint8Array, at: number, end: number, into: PropertyScan): void {
  into.reset();
  let pairAt = at;
  let nameEnd = -1;
  const view = viewBelow(b);
  const base = b.byteOffset;
  for (let i = at; i < end; i++) {
    while (i + 4 <= end && isFreeOfSeparators(view.getInt32(base + i))) i += 4;
    const c = b[i] as number;
    if (i === end || c > 0x02) continue;
    if (c === 0x02) {
      onPair(b, pairAt, nameEnd, i, i + 1 - pairAt, into);
      pairAt = i + 1;
      nameEnd = -1;
    } else if (c === 0x01) {
      if (nameEnd < 0) nameEnd = i;
      else into.straySeparatorCount++;
    }
  }
  if (pairAt === end) return;
  into.endsWithSeparator = false;
  onPair(b, pairAt, nameEnd, end, end - pairAt, into);
}

/** Whether none of a word's four bytes is 0x00 to 0x02; may be false for others, too. */
function isFreeOfSeparators(word: number): boolean {
  return ((word - 0x03030303) & ~word & 0x80808080) === 0;
}

function onPair(b: Uint8Array, at: number, nameEnd: number, end: number, size: number, into: PropertyScan): void {
  into.lastIsCut = false;
  if (nameEnd <= at || nameEnd === end - 1) {
    into.lostCount++;
    return;
  }
  const c = b[at] as number;
  // Every name that counts here starts with a letter from C to W.
  if (c < 0x43 || c > 0x57) return;
  const value = nameEnd + 1;
  switch (nameEnd - at) {
    case 4:
      onName4(b, at, value, end, into);
      break;
    case 5:
      if (equalBytes(b, at, names.delay, 0, 5)) {
        into.delayAt = value;
        into.delayEnd = end;
        into.delayLevel = readDecimal(b, value, end);
      }
      break;
    case 8:
      if (c === 0x55 && equalBytes(b, at, names.uniqueKey, 0, 8)) {
        into.uniqueKeyAt = value;
        into.uniqueKeyEnd = end;
      } else if (equalBytes(b, at, names.tranMsg, 0, 8)) into.tranMsg = isText(b, value, end, names.true);
      else if (isBrokerOwned(b, at, nameEnd)) onOwned(at, nameEnd, end, size, into);
      else if (isTimer(b, at)) into.hasTimer = true;
      break;
    case 6:
    case 7:
    case 10:
      if (isBrokerOwned(b, at, nameEnd)) onOwned(at, nameEnd, end, size, into);
      else if (isTimer(b, at)) into.hasTimer = true;
      break;
    default:
      onLongName(b, at, nameEnd, end, into);
  }
}

function onName4(b: Uint8Array, at: number, value: number, end: number, into: PropertyScan): void {
  if (equalBytes(b, at, names.tags, 0, 4)) {
    into.tagsAt = value;
    into.tagsEnd = end;
  } else if (equalBytes(b, at, names.keys, 0, 4)) {
    into.keysAt = value;
    into.keysEnd = end;
  } else if (equalBytes(b, at, names.wait, 0, 4)) into.waitFalse = isText(b, value, end, names.false);
}

function onOwned(at: number, nameEnd: number, end: number, size: number, into: PropertyScan): void {
  into.cutSize += size;
  into.lastIsCut = true;
  const nameSize = nameEnd - at;
  if (nameSize === 6) {
    into.popCkAt = nameEnd + 1;
    into.popCkEnd = end;
  } else if (nameSize === 7) into.hasCluster = true;
  else if (nameSize === 8) into.hasTraceOn = true;
  else into.hasMsgRegion = true;
}

function onLongName(b: Uint8Array, at: number, nameEnd: number, end: number, into: PropertyScan): void {
  const size = nameEnd - at;
  const value = nameEnd + 1;
  if (size === 9 && equalBytes(b, at, names.innerNum, 0, 9)) {
    into.innerNumAt = value;
    into.innerNumEnd = end;
  } else if (size === 11 && equalBytes(b, at, names.retryTopic, 0, 11)) {
    into.retryTopicAt = value;
    into.retryTopicEnd = end;
  }
  if (size < 6 || !isTimer(b, at)) return;
  into.hasTimer = true;
  if (size === 15 && equalBytes(b, at, names.timerDelaySec, 0, 15)) {
    into.timerDelaySecAt = value;
    into.timerDelaySecEnd = end;
  } else if (size === 14 && equalBytes(b, at, names.timerDelayMs, 0, 14)) {
    into.timerDelayMsAt = value;
    into.timerDelayMsEnd = end;
  } else if (size === 16 && equalBytes(b, at, names.timerDeliverMs, 0, 16)) {
    into.timerDeliverMsAt = value;
    into.timerDeliverMsEnd = end;
  }
}

function isTimer(b: Uint8Array, at: number): boolean {
  return b[at] === 0x54 && equalBytes(b, at, names.timer, 0, 6);
}

/** Whether the name in [at, nameEnd) is one the broker sets or takes away itself, whatever the client sent. */
export function isBrokerOwned(b: Uint8Array, at: number, nameEnd: number): boolean {
  switch (nameEnd - at) {
    case 6:
      return equalBytes(b, at, names.popCk, 0, 6);
    case 7:
      return equalBytes(b, at, names.cluster, 0, 7);
    case 8:
      return equalBytes(b, at, names.traceOn, 0, 8);
    case 10:
      return equalBytes(b, at, names.msgRegion, 0, 10);
    default:
      return false;
  }
}

function isText(b: Uint8Array, at: number, end: number, text: Uint8Array): boolean {
  return end - at === text.length && equalBytes(b, at, text, 0, text.length);
}

/** Digits with an optional sign as a number; NaN for anything else and for what a double cannot hold exactly. */
export function readDecimal(b: Uint8Array, at: number, end: number): number {
  const sign = b[at];
  let i = at < end && (sign === 0x2d || sign === 0x2b) ? at + 1 : at;
  if (i >= end || end - i > 16) return Number.NaN;
  let value = 0;
  for (; i < end; i++) {
    const digit = (b[i] as number) - 0x30;
    if (digit < 0 || digit > 9) return Number.NaN;
    value = value * 10 + digit;
  }
  if (value > Number.MAX_SAFE_INTEGER) return Number.NaN;
  return sign === 0x2d ? -value : value;
}
