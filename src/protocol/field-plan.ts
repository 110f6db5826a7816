// The names of a command's fields with their places among each other, so that a table need not look for each by its letters each time.

export interface PlannedField {
  readonly name: string;
  readonly plan: FieldPlan;
  readonly index: number;
}

export interface FieldPlan {
  readonly names: readonly string[];
}

/** What a header takes for a field: its ASCII name, or where time counts the same planned. */
export type FieldName = string | PlannedField;

export const PLANNED_COUNT_MAX = 16;
/** A set of fields as bits by their places. */
export const ALL_FIELDS = (1 << PLANNED_COUNT_MAX) - 1;

export function isAmong(fields: number, field: PlannedField): boolean {
  return ((fields >>> field.index) & 1) !== 0;
}

/** @param names by what the code calls them. */
export function planFields<K extends string>(names: Readonly<Record<K, string>>): Readonly<Record<K, PlannedField>> {
  const plan: FieldPlan = { names: Object.values(names) };
  const fields: Partial<Record<K, PlannedField>> = {};
  for (const [index, key] of (Object.keys(names) as K[]).entries()) fields[key] = { name: names[key], plan, index };
  return fields as Readonly<Record<K, PlannedField>>;
}

export function nameOf(field: FieldName): string {
  return typeof field === 'string' ? field : field.name;
}
