// How far each delay level is delivered, in the words in which stock brokers tell it.
import { SystemTopics } from '../../../message/names.ts';
import type { Desk } from '../desk.ts';

/** `scheduleMessageOffset_<level>`: offset up to which its queue is delivered, a comma, the queue's end. Levels that nobody follows yet are left out. */
export function delayFigures(desk: Desk): [name: string, value: string][] {
  const { topics, context } = desk;
  const config = topics.table.get(SystemTopics.schedule);
  const figures: [string, string][] = [];
  for (let queueId = 0; queueId < (config?.writeQueueNums ?? 0); queueId++) {
    const key = topics.keys.keyOf(SystemTopics.schedule, queueId);
    const delivered = key < 0 ? -1 : context.queueReads.get(key) - 1;
    if (delivered >= 0)
      figures.push([`scheduleMessageOffset_${queueId + 1}`, `${delivered},${topics.endOf(SystemTopics.schedule, queueId)}`]);
  }
  return figures;
}
