// A row of fixed-size files as it is found, with all that is wrong with it told and nothing changed.
//
//   | 0 | 1000 | 2000 |        | 4000 | 5000 |        two runs: the file of position 3000 is missing
import type { Files } from '../files/files.ts';
import { segmentName, segmentStart } from '../segment-row.ts';
import type { Findings } from './findings.ts';

/** Files that follow each other without a gap: positions [begin, end). */
export interface FileRun {
  readonly begin: number;
  end: number;
}

export interface WrongFile {
  readonly path: string;
  readonly sizeBytes: number;
}

export class FileRow {
  readonly folder: string;
  readonly sizeBytes: number;
  readonly runs: readonly FileRun[];
  /** Files of another size than is set: where all are, it is the setting that is wrong. */
  readonly wrong: readonly WrongFile[];

  private constructor(folder: string, sizeBytes: number, runs: readonly FileRun[], wrong: readonly WrongFile[]) {
    this.folder = folder;
    this.sizeBytes = sizeBytes;
    this.runs = runs;
    this.wrong = wrong;
  }

  static read(files: Files, folder: string, sizeBytes: number, findings: Findings): FileRow {
    const runs: FileRun[] = [];
    const wrong: WrongFile[] = [];
    const wrongPositions: number[] = [];
    const names = files.list(folder);
    names.forEach((name, i) => {
      const path = `${folder}/${name}`;
      const stat = files.stat(path);
      if (stat === null || stat.isDirectory) return;
      const last = runs.at(-1);
      const position = /^\d{20}$/.test(name) ? Number(name) : -1;
      if (position < 0) {
        findings.add({ severity: 'damage', kind: 'alienFile', path, where: '', seen: name, expected: 'names of 20 digits' });
      } else if (stat.sizeBytes === 0 && i === names.length - 1) {
        const expected = `${sizeBytes} bytes`;
        findings.add({ severity: 'repairable', kind: 'fileEmpty', path, where: `position=${position}`, seen: '0 bytes', expected });
      } else if (stat.sizeBytes !== sizeBytes || position % sizeBytes !== 0) {
        wrong.push({ path, sizeBytes: stat.sizeBytes });
        wrongPositions.push(position);
      } else if (last?.end === position) {
        last.end += sizeBytes;
      } else {
        if (last !== undefined) reportGap(findings, folder, last.end, position, sizeBytes, wrongPositions);
        runs.push({ begin: position, end: position + sizeBytes });
      }
    });
    return new FileRow(folder, sizeBytes, runs, wrong);
  }

  /** First byte that exists; 0 where there is no file. */
  get positionMin(): number {
    return this.runs[0]?.begin ?? 0;
  }

  /** End of the last file. */
  get positionEnd(): number {
    return this.runs.at(-1)?.end ?? 0;
  }

  get isEmpty(): boolean {
    return this.runs.length === 0;
  }

  holds(position: number): boolean {
    return this.runs.some((run) => position >= run.begin && position < run.end);
  }

  path(position: number): string {
    return `${this.folder}/${segmentName(segmentStart(position, this.sizeBytes))}`;
  }

  /** End of the file that holds the position. */
  fileEnd(position: number): number {
    return segmentStart(position, this.sizeBytes) + this.sizeBytes;
  }

  /** Start of the file behind the one with this position, maybe behind a gap; -1 behind the last. */
  fileAfter(position: number): number {
    const end = this.fileEnd(position);
    for (const run of this.runs) if (end < run.end) return Math.max(end, run.begin);
    return -1;
  }

  reportWrong(findings: Findings): void {
    for (const { path, sizeBytes } of this.wrong) {
      const expected = `${this.sizeBytes} bytes, at a multiple of that`;
      findings.add({ severity: 'damage', kind: 'fileSize', path, where: '', seen: `${sizeBytes} bytes`, expected });
    }
  }
}

/** A file of a wrong size is told as such, and not as missing. */
function reportGap(findings: Findings, folder: string, from: number, to: number, sizeBytes: number, wrong: readonly number[]): void {
  const missing: number[] = [];
  let count = 0;
  for (let position = from; position < to; position += sizeBytes) {
    if (wrong.includes(position)) continue;
    count++;
    if (missing.length === 0) missing.push(position);
  }
  for (const position of missing) {
    const where = `position=${position}`;
    const expected = segmentName(position);
    findings.add({ severity: 'damage', kind: 'fileMissing', path: folder, where, seen: `next is ${segmentName(to)}`, expected, count });
  }
}
