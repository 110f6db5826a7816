// The commit log's record, in one door: its layout and readers, its writer, its check, and its decoded form.
export * from './record-check.ts';
export * from './record-decode.ts';
export * from './record-layout.ts';
export * from './record-write.ts';
