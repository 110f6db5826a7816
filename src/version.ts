// The version of this package, read from the package.json it was installed with.
import { readFileSync } from 'node:fs';

function readVersion(): string {
  // Beside dist/ in a package, two folders up in a test build.
  for (const path of ['../package.json', '../../package.json']) {
    try {
      return String((JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8')) as { version?: unknown }).version);
    } catch {
      // try the next place
    }
  }
  return 'unknown';
}

export const VERSION = readVersion();
