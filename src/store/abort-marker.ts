// The file `abort`: it lies in the store's root while a broker runs, so that a start that finds it knows of an unclean stop.
//
//   4711
//   place 5d0c…-2f-131090                             this run of the system's kernel, and this folder in it
//   written 00000000001073741824 a1b2c3d4             the units of all records below this position are in files; a checksum
//
// A process that is killed loses nothing that it has written, only a machine that stops does: a start in the same place trusts what was
// written. Other brokers put a text of their own into the file, and then nothing is trusted.
import { bodyCrc } from '../message/crc.ts';
import type { Files } from './files/files.ts';

const TEXT_SIZE_MAX = 1_024;
const DIGITS = 20;
const pattern = /^\d+\nplace (\S+)\nwritten (\d{20}) ([0-9a-f]{8})\n$/;

function markerPath(root: string): string {
  return `${root}/abort`;
}

export function isMarkedRunning(files: Files, root: string): boolean {
  return files.stat(markerPath(root)) !== null;
}

/**
 * Position below which all units were in their files when the last process ended in this place; -1 where that is not known.
 * @param place where this process runs; empty where nobody can tell.
 */
export function writtenBelow(files: Files, root: string, place: string): number {
  const found = pattern.exec(readText(files, root));
  if (found === null || place === '') return -1;
  const [, there = '', digits = '', check = ''] = found;
  return there === place && checkOf(place, digits) === check ? Number(digits) : -1;
}

/**
 * @param pid for people: presence counts, not content.
 * @param place where this process runs, without blanks; empty where nobody can tell.
 * @param written the units of all records below this position are in files.
 */
export function markRunning(files: Files, root: string, pid: number, place = '', written = 0): void {
  const text = Buffer.from(place === '' ? String(pid) : `${pid}\nplace ${place}\n${writtenLine(place, written)}`);
  const fd = files.open(markerPath(root), 'create');
  try {
    files.truncate(fd, 0);
    files.write(fd, text, 0, text.length, 0);
    files.sync(fd);
  } finally {
    files.close(fd);
  }
  files.syncFolder(root);
}

/** Last of all at a stop, and only where queues and log agree to the last record and all is synced. */
export function markStopped(files: Files, root: string): void {
  files.remove(markerPath(root));
  files.syncFolder(root);
}

/** Keeps the position in the marker of this process up to date. It is never synced: it is for a start on the same running system. */
export class WrittenMark {
  readonly #files: Files;
  readonly #root: string;
  /** Empty where there is nothing to keep. */
  #place = '';
  #lineAt = 0;
  #fd = -1;

  constructor(files: Files, root: string) {
    this.#files = files;
    this.#root = root;
  }

  /** Takes over what `markRunning` wrote; returns the position that stands there, -1 where none can be kept. */
  open(): number {
    const text = readText(this.#files, this.#root);
    const found = pattern.exec(text);
    if (found === null) return -1;
    this.#place = found[1] as string;
    this.#lineAt = text.indexOf('\nwritten ') + 1;
    this.#fd = this.#files.open(markerPath(this.#root), 'write');
    return Number(found[2]);
  }

  set(position: number): void {
    if (this.#fd >= 0) this.#write(writtenLine(this.#place, position));
  }

  /** What is in files can be trusted no more, such as after an error of the disk. */
  withdraw(): void {
    if (this.#fd >= 0) this.#write('\n'.repeat(writtenLine(this.#place, 0).length));
    this.close();
  }

  close(): void {
    if (this.#fd >= 0) this.#files.close(this.#fd);
    this.#fd = -1;
  }

  #write(line: string): void {
    this.#files.write(this.#fd, Buffer.from(line), 0, line.length, this.#lineAt);
  }
}

function writtenLine(place: string, position: number): string {
  const digits = String(position).padStart(DIGITS, '0');
  return `written ${digits} ${checkOf(place, digits)}\n`;
}

function checkOf(place: string, digits: string): string {
  const bytes = Buffer.from(`${place} ${digits}`);
  return bodyCrc(bytes, 0, bytes.length).toString(16).padStart(8, '0');
}

function readText(files: Files, root: string): string {
  if (!isMarkedRunning(files, root)) return '';
  const bytes = Buffer.alloc(TEXT_SIZE_MAX);
  const fd = files.open(markerPath(root), 'read');
  try {
    return bytes.toString('latin1', 0, files.read(fd, bytes, 0, TEXT_SIZE_MAX, 0));
  } finally {
    files.close(fd);
  }
}
