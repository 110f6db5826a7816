// The body that says how replication stands: of a broker that serves alone, since this version has no slaves.
import { compactJson } from '../../base/json-writer.ts';

export interface HaRuntime {
  readonly master: boolean;
  /** End of the log in bytes. */
  readonly masterCommitLogMaxOffset: number;
}

export function encodeHaRuntime({ master, masterCommitLogMaxOffset }: HaRuntime): Buffer {
  return Buffer.from(
    compactJson({
      haClientRuntimeInfo: {
        activated: false,
        lastReadTimestamp: 0,
        lastWriteTimestamp: 0,
        masterFlushOffset: 0,
        maxOffset: 0,
        transferredByteInSecond: 0,
      },
      haConnectionInfo: [],
      inSyncSlaveNums: 0,
      master,
      masterCommitLogMaxOffset,
    }),
  );
}
