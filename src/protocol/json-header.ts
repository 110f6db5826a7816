// The JSON form of a frame's header: tolerant reading (numbers and booleans count as their text), and Java's spelling in writing.
import { errorText } from '../base/errors.ts';
import type { HeaderParts } from './header.ts';
import { BROKER_VERSION, languageName } from './versions.ts';

//   {"code":310,"extFields":{"a":"group", …},"flag":0,"language":"JAVA","opaque":21,"remark":"…","serializeTypeCurrentRPC":"JSON","version":479}
//   keys in alphabetical order; extFields and remark only where there is one; values of extFields are strings.

export type ExtObject = Record<string, unknown>;

/** What `readJsonHeader` fills. */
export interface JsonHeaderTarget {
  code: number;
  language: string | number;
  version: number;
  opaque: number;
  flag: number;
  remark: string | undefined;
  /** `text` is the header's own text, from which numbers too long for a double are read again. */
  setJsonExt(ext: ExtObject, text: string): void;
}

interface RawHeader {
  code?: unknown;
  language?: unknown;
  version?: unknown;
  opaque?: unknown;
  flag?: unknown;
  remark?: unknown;
  extFields?: unknown;
}

export function readJsonHeader(bytes: Buffer, at: number, size: number, into: JsonHeaderTarget): string | null {
  const text = bytes.toString('utf8', at, at + size);
  let raw: RawHeader;
  try {
    raw = JSON.parse(text) as RawHeader;
  } catch (error) {
    return `header is not JSON cause=${errorText(error)}`;
  }
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return 'header is not a JSON object';
  const { extFields, language, remark } = raw;
  into.code = integer(raw.code, Number.NaN);
  into.version = integer(raw.version, 0);
  into.opaque = integer(raw.opaque, 0);
  into.flag = integer(raw.flag, 0);
  if (!isInt32(into.code) || !isInt32(into.version) || !isInt32(into.opaque) || !isInt32(into.flag)) {
    return `header has a field that is no 32-bit number ${fieldTexts(raw)}`;
  }
  into.language = typeof language === 'string' || typeof language === 'number' ? language : '';
  into.remark = remark === undefined || remark === null ? undefined : valueText(remark);
  if (extFields === undefined || extFields === null) into.setJsonExt({}, text);
  else if (typeof extFields === 'object' && !Array.isArray(extFields)) into.setJsonExt(extFields as ExtObject, text);
  else return `extFields is not an object seen=${typeof extFields}`;
  return null;
}

function integer(value: unknown, absent: number): number {
  if (typeof value === 'number') return value;
  if (value === undefined || value === null) return absent;
  return typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : Number.NaN;
}

function isInt32(value: number): boolean {
  return (value | 0) === value;
}

function fieldTexts(raw: RawHeader): string {
  const { code, version, opaque, flag } = raw;
  return `code=${valueText(code)} version=${valueText(version)} opaque=${valueText(opaque)} flag=${valueText(flag)}`;
}

/** The text of a value of extFields, as Java's reader coerces it. */
export function valueText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return String(value);
  try {
    return JSON.stringify(value);
  } catch {
    // Nested too deep to be written: no field of any command is an object.
    return '{}';
  }
}

/** Strings are matched only to be skipped; a fraction or an exponent is no long integer. */
const stringOrLong = /"[^"\\]*(?:\\.[^"\\]*)*"|(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/gs;

/** The fields of a header's text with every long integer as a string, so that it keeps its digits. */
export function exactExt(text: string): ExtObject {
  const quoted = text.replace(stringOrLong, (part) => (part.startsWith('"') ? part : `"${part}"`));
  return (JSON.parse(quoted) as { extFields: ExtObject }).extFields;
}

export function jsonHeaderText(parts: HeaderParts): string {
  const { ext, remark } = parts;
  let text = `{"code":${parts.code}`;
  if (ext !== undefined) {
    text += ',"extFields":{';
    let comma = '';
    for (const [name, value] of Object.entries(ext)) {
      text += `${comma}${JSON.stringify(name)}:${JSON.stringify(String(value))}`;
      comma = ',';
    }
    text += '}';
  }
  text += `,"flag":${parts.flag},"language":${JSON.stringify(languageName(parts.language ?? 'JAVA'))},"opaque":${parts.opaque}`;
  if (remark !== undefined) text += `,"remark":${JSON.stringify(remark)}`;
  return `${text},"serializeTypeCurrentRPC":"JSON","version":${parts.version ?? BROKER_VERSION}}`;
}
