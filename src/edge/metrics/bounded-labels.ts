const LABEL_VALUES_LIMIT = 64;

/** Limits each label to 64 values; further values become `other`. Unauthenticated sources cannot create unlimited series. */
export function boundedLabels(): (label: string, value: string) => string {
  const seen = new Map<string, Set<string>>();
  return (label, value) => {
    const values = seen.get(label) ?? new Set();
    seen.set(label, values);
    if (values.has(value)) return value;
    if (values.size >= LABEL_VALUES_LIMIT) return 'other';
    values.add(value);
    return value;
  };
}
