// Writes JSON in the forms its readers need: strict, Java's compact one with bare keys, and Java's pretty one for configuration files.
//
// A Map stands for a Java map: its keys may be numbers or objects. Everything else with names is an object, or a Map with text keys.
//
//                       number key   object key                         layout
//   compactJson         {"0":1}      {"{\"brokerName\":\"b\"}":1}       no blanks
//   javaJson            {0:1}        {{"brokerName":"b"}:1}             no blanks
//   prettyJavaJson      0:1          {...}:1                            a line per member, tabs

/** Text that is written as it is: for numbers beyond 2^53, and for parts that must be passed on unchanged. */
export class RawJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Strict JSON that any parser reads. Members that are undefined are left out; the order is the object's. */
export function compactJson(value: unknown): string {
  return write(value, false, -1);
}

/** The old form of Java's writer, for readers that expect number and object keys bare. */
export function javaJson(value: unknown): string {
  return write(value, true, -1);
}

/** The form of configuration files, with bare number keys as Java's broker writes them. */
export function prettyJavaJson(value: unknown): string {
  return write(value, true, 0);
}

/** A part of such a file, ready to be put in where so many tabs stand before its closing bracket. */
export function prettyJavaPart(value: unknown, depth: number): RawJson {
  return new RawJson(write(value, true, depth));
}

/** @param depth tabs before the closing bracket; -1 for all on one line. */
function write(value: unknown, bareKeys: boolean, depth: number): string {
  if (value === null || value === undefined) return 'null';
  if (typeof value !== 'object') return writeScalar(value);
  if (value instanceof RawJson) return value.text;
  const inner = depth < 0 ? -1 : depth + 1;
  const parts: string[] = [];
  if (Array.isArray(value)) {
    for (const item of value) parts.push(write(item, bareKeys, inner));
    return wrap('[', parts, ']', depth);
  }
  if (value instanceof Map) {
    for (const [key, member] of value) if (member !== undefined) parts.push(`${writeKey(key, bareKeys)}:${write(member, bareKeys, inner)}`);
  } else {
    for (const [key, member] of Object.entries(value)) {
      if (member !== undefined) parts.push(`${JSON.stringify(key)}:${write(member, bareKeys, inner)}`);
    }
  }
  return wrap('{', parts, '}', depth);
}

function writeScalar(value: unknown): string {
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : 'null';
  if (typeof value === 'boolean') return String(value);
  return JSON.stringify(String(value));
}

function writeKey(key: unknown, bareKeys: boolean): string {
  if (typeof key === 'string') return JSON.stringify(key);
  const text = write(key, bareKeys, -1);
  return bareKeys ? text : JSON.stringify(text);
}

function wrap(open: string, parts: readonly string[], close: string, depth: number): string {
  if (depth < 0 || parts.length === 0) return open + parts.join(',') + close;
  const line = `\n${'\t'.repeat(depth + 1)}`;
  return open + line + parts.join(`,${line}`) + line.slice(0, -1) + close;
}
