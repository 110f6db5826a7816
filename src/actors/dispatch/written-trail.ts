// How far the units of all queues are in files, while queues are written one after another: the log's order is all that must be known.
//
//   log:  ...| noted | noted | noted | followed
//                    ^ end: the newest note in front of the oldest unit that is in memory only

interface Note {
  end: number;
  position: number;
  timeMs: number;
}

/** More than there are writes while the slowest queue waits for its turn. */
const NOTE_COUNT_MAX = 1_024;

export class WrittenTrail {
  /** All records below have their units in files. */
  end: number;
  /** Start and store time of the newest of them that was followed; 0 where none was. */
  position = 0;
  timeMs = 0;
  readonly #notes: Note[] = [];

  constructor(end: number) {
    this.end = end;
  }

  /** The follower stands at `end`; the newest record it handed on begins at `position`. */
  note(end: number, position: number, timeMs: number): void {
    const last = this.#notes.at(-1);
    if (end <= (last?.end ?? this.end) || this.#notes.length === NOTE_COUNT_MAX) return;
    this.#notes.push({ end, position, timeMs });
  }

  /** @param unwrittenFrom position of the oldest record whose unit is in no file; Infinity where all are. */
  advance(unwrittenFrom: number): void {
    while (this.#notes.length > 0) {
      const note = this.#notes[0] as Note;
      if (note.end > unwrittenFrom) return;
      this.#notes.shift();
      this.end = note.end;
      if (note.timeMs === 0) continue;
      this.position = note.position;
      this.timeMs = note.timeMs;
    }
  }
}
