// The attributes of a topic and the rules of changing them.

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

/** The attributes after the changes; null deletes. `current` null: the topic is being created, when there is nothing to delete. */
export function alterAttributes(
  current: Readonly<Record<string, string>> | null,
  changes: ReadonlyMap<string, string | null>,
): AttributesOrFault {
  const result: Record<string, string> = { ...current };
  for (const [name, value] of changes) {
    const fault = changeFault(name, value, current);
    if (fault !== null) return { ok: false, fault };
    if (value === null) delete result[name];
    else result[name] = value;
  }
  return { ok: true, value: result };
}

function changeFault(name: string, value: string | null, current: Readonly<Record<string, string>> | null): string | null {
  const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
  if (rule === undefined) return `attribute is unknown attribute=${name} allowed=${Object.keys(rules).join(', ')}`;
  if (value === null) {
    if (current === null) return `only + is allowed while a topic is created attribute=-${name}`;
    if (!Object.hasOwn(current, name)) return `attribute to delete is not set attribute=${name}`;
  }
  if (current !== null && !rule.changeable && (value === null || current[name] !== value)) {
    return `attribute cannot be changed once the topic exists attribute=${name}`;
  }
  return value === null ? null : valueFault(name, value, rule);
}

function valueFault(name: string, value: string, rule: AttributeRule): string | null {
  if (rule.values === null) return /^\d{1,15}$/.test(value) ? null : `attribute needs a whole number attribute=${name} value=${value}`;
  return rule.values.includes(value)
    ? null
    : `attribute value is unknown attribute=${name} value=${value} allowed=${rule.values.join(', ')}`;
}
