// Checks the table of settings against itself and against the names that Apache's servers gave out.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import test from 'ava';
import { aliases, families, specs } from '../../src/config/schema.ts';
import { parseValue } from '../../src/config/validate.ts';

function goldenFile(name: string): string | undefined {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (folder !== dirname(folder)) {
    const path = join(folder, 'shared', 'golden', name);
    if (existsSync(path)) return path;
    folder = dirname(folder);
  }
  return undefined;
}

interface Frame {
  readonly b64: string;
}

/** Names in the configuration texts that Apache's broker and name server gave out. */
function apacheNames(path: string): string[] {
  const names: string[] = [];
  for (const line of gunzipSync(readFileSync(path)).toString().trim().split('\n')) {
    const frame = Buffer.from((JSON.parse(line) as Frame).b64, 'base64');
    const body = frame.subarray(8 + (frame.readInt32BE(4) & 0xff_ffff)).toString();
    if (!/^(bindAddress|accessMessage\w+)=/m.test(body)) continue;
    for (const entry of body.split('\n')) if (entry.includes('=')) names.push(entry.slice(0, entry.indexOf('=')));
  }
  return names;
}

test("schema: every name that Apache's broker and name server gave out is known", (t) => {
  const path = goldenFile('wire/mqadmin-5.5.0.jsonl.gz');
  if (path === undefined) {
    t.log('golden data is absent');
    t.pass();
    return;
  }
  const names = apacheNames(path);
  t.true(names.length > 400);
  t.deepEqual(
    names.filter((name) => !specs.has(name)),
    [],
  );
});

test('schema: every default is allowed by its own row', (t) => {
  for (const [name, spec] of specs) {
    if (spec.derived !== undefined) continue;
    const parsed = parseValue(spec, String(spec.default));
    t.deepEqual(parsed, { ok: true, value: spec.default }, name);
  }
});

test('schema: no name is in two families, and aliases lead to known names', (t) => {
  const names = families.flatMap((family) => Object.keys(family.settings));
  t.is(new Set(names).size, names.length);
  for (const [old, name] of Object.entries(aliases)) {
    t.true(names.includes(name));
    t.false(specs.has(old));
  }
});

test('schema: every row has a meaning without a full stop', (t) => {
  for (const [name, spec] of specs) t.regex(spec.meaning, /^[A-Z0-9].*[^.]$/, name);
});
