// The one door to properties-file: reads and writes Java's `.properties` text.
import { escapeKey, escapeValue } from 'properties-file/escape';
import { Properties } from 'properties-file/parser';

export interface PropertyLine {
  readonly name: string;
  readonly value: string;
  /** First line of the entry, from 1. */
  readonly line: number;
  /** The value has a backslash that escapes nothing, and so vanished: typical of Windows paths. */
  readonly lostBackslash: boolean;
}

// A backslash before one of these means what Java says it means; before any other character it is just dropped.
const MEANT = /\\([\\nrtf:=#! ]|u[0-9a-fA-F]{4})/g;

/** All entries in file order, a repeated name several times: the last one counts. */
export function parseProperties(content: string): PropertyLine[] {
  return new Properties(content).getProperties().map((node) => ({
    name: node.key,
    value: node.value.trimEnd(),
    line: node.startingLineNumber,
    lostBackslash: /^[a-zA-Z]:\\[^\\]/.test(node.escapedValue) || node.escapedValue.replace(MEANT, '').includes('\\'),
  }));
}

/** One `name=value` line of a `.properties` file. */
export function propertyLine(name: string, value: string): string {
  return `${escapeKey(name)}=${escapeValue(value)}\n`;
}
