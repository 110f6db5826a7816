// Whole small files, put and read back through any layer of files.
import type { Files } from '../../src/store/files/files.ts';

export function putFile(files: Files, path: string, bytes: Uint8Array): void {
  files.makeFolder(path.slice(0, path.lastIndexOf('/')));
  const fd = files.open(path, 'create');
  files.truncate(fd, 0);
  files.write(fd, bytes, 0, bytes.length, 0);
  files.close(fd);
}

export function getFile(files: Files, path: string): Buffer {
  const bytes = Buffer.alloc(files.stat(path)?.sizeBytes ?? 0);
  const fd = files.open(path, 'read');
  files.read(fd, bytes, 0, bytes.length, 0);
  files.close(fd);
  return bytes;
}
