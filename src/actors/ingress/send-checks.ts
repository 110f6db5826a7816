// What a send must satisfy before its message is looked at, with the code and text for one that does not.
import type { Settings } from '../../config/settings.ts';
import { isSendableTopic, notSendableText, topicFault } from '../../message/names.ts';
import type { PropertyScan } from '../../message/properties.ts';
import { PROPERTIES_SIZE_MAX } from '../../message/record.ts';
import { ResponseCodes } from '../../protocol/codes.ts';
import type { SendRequest } from '../../protocol/commands/send-message.ts';
import type { Connection } from '../../runtime/transport.ts';
import type { RoutedTopic } from './directory.ts';

export interface Refusal {
  readonly code: number;
  readonly remark: string;
}

const PERM_WRITE = 2;
const BLANK_SIZE = 8;

/** null where the topic takes this send, or is not known yet and may be made. */
export function refuseTopic(settings: Settings, topic: RoutedTopic | undefined, request: SendRequest, from: Connection): Refusal | null {
  if ((settings.brokerPermission & PERM_WRITE) === 0 && topic?.order) {
    return { code: ResponseCodes.NO_PERMISSION, remark: `the broker[${settings.brokerIP1}] sending message is forbidden` };
  }
  if (topic === undefined) {
    const fault = topicFault(request.topic);
    if (fault !== null) return { code: ResponseCodes.INVALID_PARAMETER, remark: fault };
  }
  if (!isSendableTopic(request.topic)) return { code: ResponseCodes.NO_PERMISSION, remark: notSendableText(request.topic) };
  if (topic === undefined) return null;
  const count = Math.max(topic.writeQueueCount, topic.readQueueCount);
  if (request.queueId < count && (topic.keys.length > 0 || request.queueId >= 0)) return null;
  return {
    code: ResponseCodes.INVALID_PARAMETER,
    remark: `request queueId[${request.queueId}] is illegal, topic=${topic.name} readQueueNums=${topic.readQueueCount} writeQueueNums=${topic.writeQueueCount} Producer: ${from.remoteHost}:${from.remotePort}`,
  };
}

/** What a log file holds beside the blank record that may close it. */
export function recordSizeMax(settings: Settings): number {
  return settings.mappedFileSizeCommitLog - BLANK_SIZE;
}

export function bodyFault(size: number, sizeMax: number): Refusal {
  return {
    code: ResponseCodes.MESSAGE_ILLEGAL,
    remark: `the message is illegal: its body must have 1 to maxMessageSize bytes bodySize=${size} maxMessageSize=${sizeMax}`,
  };
}

export function recordFault(size: number, sizeMax: number): Refusal {
  return {
    code: ResponseCodes.MESSAGE_ILLEGAL,
    remark: `the message is illegal: it does not fit into a file of the log (mappedFileSizeCommitLog) size=${size} allowed=${sizeMax}`,
  };
}

export function propertiesFault(size: number): Refusal {
  return {
    code: ResponseCodes.MESSAGE_ILLEGAL,
    remark: `the message is illegal: its properties are too long propertiesSize=${size} allowed=${PROPERTIES_SIZE_MAX}`,
  };
}

/** Timed and transactional messages need actors that this version does not have: stored as they are they would come early. */
export function deliveryFault(scan: PropertyScan, reconsumeTimes: number): Refusal | null {
  if (Number.isNaN(scan.delayLevel)) {
    return { code: ResponseCodes.MESSAGE_ILLEGAL, remark: 'the message is illegal: its property DELAY is no whole number' };
  }
  // A level makes the timers void. Old clients send a transaction's message that failed at its consumer again, with a level.
  if (scan.delayLevel <= 0 && hasDeliveryTime(scan)) return timerRefusal;
  if (scan.tranMsg && !(reconsumeTimes > 0 && scan.delayLevel > 0))
    return notServed('transactional messages (TRAN_MSG) are not served by this version');
  return null;
}

/** None of a batch may come later than the others, whichever property says so: see BR-44. */
export function batchDeliveryFault(scan: PropertyScan): Refusal | null {
  if (scan.delayLevel > 0) return notServed(`a batch cannot be delayed DELAY=${scan.delayLevel}`);
  return deliveryFault(scan, 0);
}

function hasDeliveryTime(scan: PropertyScan): boolean {
  return scan.timerDelaySecAt >= 0 || scan.timerDelayMsAt >= 0 || scan.timerDeliverMsAt >= 0;
}

export function noLevelFault(level: number): Refusal {
  return {
    code: ResponseCodes.SYSTEM_ERROR,
    remark: `delay level ${level} has no queue: raise maxQueueCount, or remove topics, and restart; nothing was stored`,
  };
}

function notServed(remark: string): Refusal {
  return { code: ResponseCodes.MESSAGE_ILLEGAL, remark: `${remark}: nothing was stored` };
}

const timerRefusal = notServed('timed messages (TIMER_DELAY_SEC, TIMER_DELAY_MS, TIMER_DELIVER_MS) are not served by this version');
