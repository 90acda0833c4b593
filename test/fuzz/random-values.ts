/** Random JSON values for a JSON schema: mostly valid, some at the limits, some invalid or hostile. */
import type { Mutator } from './mutator.ts';

export type Json = Readonly<Record<string, unknown>>;

const DEPTH_MAX = 5;
const ITEMS_MAX = 3;
/** Texts that parsers, shells, databases and spreadsheets read in a special way. */
const HOSTILE: readonly string[] = [
  '',
  ' ',
  '0',
  '-1',
  'null',
  '../../etc/passwd',
  '%00',
  '\u0000',
  '\uD800',
  '\uFEFF',
  "' OR 1=1 --",
  '"><script>alert(1)</script>',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a text that other programs expand
  '${jndi:ldap://127.0.0.1/a}',
  '=HYPERLINK("http://127.0.0.1")',
  'a\r\nX-Injected: 1',
  'http://169.254.169.254/latest/meta-data/',
  'http://[::ffff:127.0.0.1]:1/',
  'file:///etc/passwd',
  'sip:a@127.0.0.1;maddr=10.0.0.1',
  '9'.repeat(40),
  'x'.repeat(5000),
  '\u{1F600}'.repeat(300),
];
const ODD: readonly unknown[] = [null, true, -1, 0, 1e308, 2 ** 53, 0.1, '', [], {}, [[]], 'text'];

export class RandomValues {
  readonly #random: Mutator;
  /** Identifiers seen in responses, used for properties and parameters that may take one. */
  readonly #known: string[] = [];

  constructor(random: Mutator) {
    this.#random = random;
  }

  chance(percent: number): boolean {
    return this.#random.below(100) < percent;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.#random.below(list.length)] as T;
  }

  /** Remembers all short texts and numbers of a response. */
  learn(value: unknown, depth = 0): void {
    if (depth > DEPTH_MAX) return;
    if (typeof value === 'string' && /^[\w+.-]{4,64}$/.test(value)) this.#known.push(value);
    else if (typeof value === 'number') this.#known.push(String(value));
    else if (Array.isArray(value)) for (const one of value.slice(0, 5)) this.learn(one, depth + 1);
    else if (typeof value === 'object' && value !== null)
      for (const one of Object.values(value)) this.learn(one, depth + 1);
    if (this.#known.length > 2000) this.#known.splice(0, 1000);
  }

  of(schema: Json, depth = 0): unknown {
    if (this.chance(4)) return this.pick(ODD);
    if ('const' in schema) return schema['const'];
    if (Array.isArray(schema['enum'])) return this.pick(schema['enum'] as unknown[]);
    for (const union of ['anyOf', 'oneOf', 'allOf'])
      if (Array.isArray(schema[union])) return this.of(this.pick(schema[union] as Json[]), depth);
    const { type } = schema;
    switch (Array.isArray(type) ? this.pick(type as unknown[]) : type) {
      case 'object':
        return this.#object(schema, depth);
      case 'array':
        return depth > DEPTH_MAX
          ? []
          : Array.from({ length: this.#random.below(ITEMS_MAX + 1) }, () =>
              this.of((schema['items'] ?? {}) as Json, depth + 1),
            );
      case 'integer':
        return Math.trunc(this.#number(schema));
      case 'number':
        return this.#number(schema);
      case 'boolean':
        return this.chance(50);
      case 'null':
        return null;
      default:
        return this.text(schema);
    }
  }

  text(schema: Json): string {
    const { minLength = 0, maxLength = 40, pattern, format } = schema;
    const choice = this.#random.below(10);
    if (choice < 2) return this.pick(HOSTILE);
    if (choice < 6 && this.#known.length > 0) return this.pick(this.#known);
    if (format === 'date-time') return new Date(1.7e12 + this.#random.below(1e9)).toISOString();
    if (typeof pattern === 'string' && pattern.includes('0-9'))
      return `+1415555${1000 + this.#random.below(9000)}`;
    if (choice === 6) return 'http://127.0.0.1:9/x';
    const least = Number(minLength);
    const most = Math.min(Number(maxLength), least + 40);
    const length = least + this.#random.below(most - least + 1);
    return Array.from({ length }, () => this.pick([...'abcXYZ019 _-.é'])).join('');
  }

  #number({ minimum, maximum }: Json): number {
    const least = Number(minimum ?? 0);
    const most = Number(maximum ?? 1000);
    const edges = [least, most, least - 1, most + 1, least + 0.5];
    return this.chance(30) ? this.pick(edges) : least + this.#random.below(most - least + 1);
  }

  #object(schema: Json, depth: number): unknown {
    const { properties = {}, required = [] } = schema as {
      readonly properties?: Readonly<Record<string, Json>>;
      readonly required?: readonly string[];
    };
    if (depth > DEPTH_MAX) return {};
    const entries = Object.entries(properties)
      .filter(([name]) => (required.includes(name) ? !this.chance(3) : this.chance(40)))
      .map(([name, property]) => [name, this.of(property, depth + 1)] as const);
    return Object.fromEntries(this.chance(3) ? [...entries, ['__proto__x', 1]] : entries);
  }
}
