// Makes the files of queues that have just begun, so that their dispatcher finds them when it has units to write.
import { readUtf8 } from '../../base/bytes.ts';
import type { RingReader } from '../../runtime/ring.ts';
import { queueFileSize } from '../../store/consume-queues.ts';
import { prepareQueueFile } from '../../store/queue-files.ts';
import { storeFolders } from '../../store/store-folders.ts';
import type { ActorContext } from '../context.ts';

export class QueuePreparer {
  readonly #context: ActorContext;
  readonly #root: string;
  readonly #fileSizeBytes: number;

  constructor(context: ActorContext) {
    this.#context = context;
    this.#root = storeFolders(context.settings.storePathRootDir).consumeQueue;
    this.#fileSizeBytes = queueFileSize(context.settings.mappedFileSizeConsumeQueue);
  }

  /** queueId, topicSize, topic. What goes wrong here goes wrong for the dispatcher too, and that one tells of it. */
  prepare({ words, bytes }: RingReader, word: number): true {
    const topicAt = (word + 2) << 2;
    const topic = readUtf8(bytes, topicAt, topicAt + (words[word + 1] as number));
    try {
      prepareQueueFile(this.#context.files, this.#root, topic, words[word] as number, this.#fileSizeBytes);
    } catch {
      // See above.
    }
    return true;
  }
}
