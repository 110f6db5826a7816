// The attributes of a topic and the grammar of changing them: `+key=value` adds or alters, `-key` deletes.

export type AttributesOrFault =
  | { readonly ok: true; readonly value: Readonly<Record<string, string>> }
  | { readonly ok: false; readonly fault: string };

interface AttributeRule {
  readonly changeable: boolean;
  /** null: a whole number. */
  readonly values: readonly string[] | null;
}

const rules: Readonly<Record<string, AttributeRule>> = {
  'queue.type': { changeable: false, values: ['SimpleCQ', 'BatchCQ'] },
  'cleanup.policy': { changeable: false, values: ['DELETE', 'COMPACTION'] },
  'message.type': { changeable: true, values: ['UNSPECIFIED', 'NORMAL', 'FIFO', 'DELAY', 'TRANSACTION', 'MIXED'] },
  'reserve.time': { changeable: true, values: null },
};

/** `+a=b,-c` as [['+a', 'b'], ['-c', '']]. */
export function splitAttributes(text: string): [string, string][] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => {
      const equals = part.indexOf('=');
      return equals < 0 ? [part, ''] : [part.slice(0, equals).trim(), part.slice(equals + 1).trim()];
    });
}

/** The attributes after the changes. `current` null: the topic is being created, when only `+` makes sense. */
export function alterAttributes(
  current: Readonly<Record<string, string>> | null,
  changes: readonly (readonly [string, string])[],
): AttributesOrFault {
  const result: Record<string, string> = { ...current };
  const seen = new Set<string>();
  for (const [signed, value] of changes) {
    const key = signed.slice(1);
    const fault = changeFault(signed, key, value, current, seen);
    if (fault !== null) return { ok: false, fault };
    seen.add(key);
    if (signed.startsWith('+')) result[key] = value;
    else delete result[key];
  }
  return { ok: true, value: result };
}

function changeFault(
  signed: string,
  key: string,
  value: string,
  current: Readonly<Record<string, string>> | null,
  seen: ReadonlySet<string>,
): string | null {
  const sign = signed[0];
  if (sign !== '+' && sign !== '-') return `attribute changes start with + or - attribute=${signed}`;
  const rule = Object.hasOwn(rules, key) ? rules[key] : undefined;
  if (rule === undefined) return `attribute is unknown attribute=${key} allowed=${Object.keys(rules).join(', ')}`;
  if (seen.has(key)) return `attribute stands twice attribute=${key}`;
  if (sign === '-') {
    if (current === null) return `only + is allowed while a topic is created attribute=${signed}`;
    if (!Object.hasOwn(current, key)) return `attribute to delete is not set attribute=${key}`;
  }
  if (current !== null && !rule.changeable && (sign === '-' || current[key] !== value)) {
    return `attribute cannot be changed once the topic exists attribute=${key}`;
  }
  if (sign === '+') return valueFault(key, value, rule);
  return null;
}

function valueFault(key: string, value: string, rule: AttributeRule): string | null {
  if (rule.values === null) return /^\d{1,15}$/.test(value) ? null : `attribute needs a whole number attribute=${key} value=${value}`;
  return rule.values.includes(value)
    ? null
    : `attribute value is unknown attribute=${key} value=${value} allowed=${rule.values.join(', ')}`;
}
