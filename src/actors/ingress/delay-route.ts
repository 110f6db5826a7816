// Where a delayed message waits: in the queue of its level, with its real topic and queue kept among its properties.
import { parseDelayLevels } from '../../core/delay-levels.ts';
import { SystemTopics } from '../../message/names.ts';
import { PropertyNames } from '../../message/properties.ts';
import type { PropertyPair } from '../../message/property-rewrite.ts';
import type { RecordFields } from '../../message/record.ts';
import { CounterIds } from '../../runtime/counters.ts';
import type { Desk } from './desk.ts';
import type { RoutedTopic } from './directory.ts';
import type { MessageEncoder } from './message-encoder.ts';

export class DelayRoute {
  readonly #desk: Desk;
  readonly #levelMax: number;

  constructor(desk: Desk) {
    this.#desk = desk;
    this.#levelMax = parseDelayLevels(desk.context.settings.messageDelayLevel).length;
  }

  /**
   * Changes fields and properties of a message whose level is above 0, before it is measured; a level above the highest counts as that.
   * Returns the topic where it waits, in the queue `fields.queueId`; null where there is none.
   */
  park(message: MessageEncoder, fields: RecordFields, topic: RoutedTopic, queueId: number): RoutedTopic | null {
    const { directory, context } = this.#desk;
    const level = Math.min(message.scan.delayLevel, this.#levelMax);
    const schedule = directory.topic(SystemTopics.schedule);
    if (schedule?.keys[level - 1] === undefined) return null;
    const put: PropertyPair[] = [
      [PropertyNames.realTopic, topic.name],
      [PropertyNames.realQueueId, String(queueId)],
    ];
    if (level !== message.scan.delayLevel) {
      context.counters.add(CounterIds.clampedDelays, 1);
      put.push([PropertyNames.delay, String(level)]);
    }
    message.changeProperties(put);
    fields.topic = schedule.nameBytes;
    fields.topicUnits = schedule.name.length;
    fields.queueId = level - 1;
    return schedule;
  }
}
