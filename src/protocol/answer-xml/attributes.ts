/**
 * Typed reader for the attributes of one element. It applies defaults and ranges and warns about attributes that have
 * no effect.
 */
import type { XmlHttpMethod, XmlProblem, XmlWarning } from './instruction.ts';
import { MAX_URL_LENGTH } from './limits.ts';
import { DocumentRefused, type Offset, type Positions } from './problem.ts';
import type { XmlElement } from './tree.ts';

export interface SecondsRange {
  readonly defaultS: number;
  readonly minS: number;
  readonly maxS: number;
}

export interface IntegerRange {
  readonly default: number;
  readonly min: number;
  readonly max: number;
}

const KEYS = /^[0-9*#A-D]*$/;

/** Reads an element's attributes. Attributes not read before `sourced` is called are reported as unknown. */
export class ElementReader {
  readonly element: XmlElement;
  readonly #positions: Positions;
  readonly #requested = new Set<string>();
  readonly #warnings: XmlWarning[] = [];

  constructor(element: XmlElement, positions: Positions) {
    this.element = element;
    this.#positions = positions;
  }

  get line(): number {
    return this.#positions.at(this.element.offset).line;
  }

  /** Trimmed value, or undefined if the attribute is absent or empty. */
  text(name: string): string | undefined {
    this.#requested.add(name);
    const value = this.element.attributes.get(name)?.trim();
    return value === '' ? undefined : value;
  }

  /** Returns whether the attribute is present, even if it is empty. */
  has(name: string): boolean {
    return this.element.attributes.has(name);
  }

  boolean(name: string, otherwise: boolean): boolean {
    const value = this.text(name)?.toLowerCase();
    if (value === undefined) return otherwise;
    if (value === 'true' || value === '1') return true;
    if (value === 'false' || value === '0') return false;
    return this.#wrong(name, 'true or false');
  }

  integer(name: string, range: IntegerRange): number {
    const value = this.text(name);
    if (value === undefined) return range.default;
    if (!/^[+-]?\d{1,15}$/.test(value)) return this.#wrong(name, 'a whole number');
    return this.#within(name, Number(value), range.min, range.max, '');
  }

  /** Reads a number of seconds and returns milliseconds. */
  seconds(name: string, range: SecondsRange): number {
    return this.optionalSeconds(name, range) ?? range.defaultS * 1000;
  }

  optionalSeconds(
    name: string,
    range: { readonly minS: number; readonly maxS: number },
  ): number | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    if (!/^[+-]?\d{1,12}(\.\d{1,6})?$/.test(value)) return this.#wrong(name, 'a number of seconds');
    return Math.round(this.#within(name, Number(value), range.minS, range.maxS, ' s') * 1000);
  }

  choice<const C extends string>(name: string, choices: readonly C[]): C | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    const found = choices.find((choice) => choice.toLowerCase() === value.toLowerCase());
    return found ?? this.#wrong(name, choices.join(' or '));
  }

  /** HTTP method for a URL attribute. Default: POST. */
  method(name = 'method', fault: XmlProblem['fault'] = 'document'): XmlHttpMethod {
    const value = this.text(name)?.toUpperCase();
    if (value === undefined) return 'POST';
    return value === 'GET' || value === 'POST' ? value : this.#wrong(name, 'GET or POST', fault);
  }

  url(name: string, fault: XmlProblem['fault'] = 'document'): string | undefined {
    const value = this.text(name);
    if (value === undefined || isHttpUrl(value)) return value;
    return this.#wrong(name, 'an absolute http:// or https:// URL', fault);
  }

  action(): { action: string | undefined; method: XmlHttpMethod } {
    return {
      action: this.url('action', 'actionUrl'),
      method: this.method('method', 'actionMethod'),
    };
  }

  callback(): { callbackUrl: string | undefined; callbackMethod: XmlHttpMethod } {
    return { callbackUrl: this.url('callbackUrl'), callbackMethod: this.method('callbackMethod') };
  }

  /** Reads a set of keys. `none` and the empty value mean no keys. */
  keys(name: string, otherwise: string): string {
    const value = this.text(name)?.replaceAll(/[\s,]/g, '');
    if (value === undefined) return this.has(name) ? '' : otherwise;
    if (value.toLowerCase() === 'none') return '';
    const upper = value.toUpperCase();
    return KEYS.test(upper) ? upper : this.#wrong(name, 'keys of 0-9, *, #, A-D, or none');
  }

  /** Reads a comma-separated list of key sequences. */
  keySequences(name: string): readonly string[] {
    const value = this.text(name);
    if (value === undefined) return [];
    const sequences = value
      .toUpperCase()
      .split(',')
      .map((item) => item.trim());
    if (sequences.every((item) => item !== '' && KEYS.test(item))) return sequences;
    return this.#wrong(name, 'key sequences of 0-9, *, #, A-D, separated by commas');
  }

  /** Reads digits to send, with waits: `1w2W3`, optionally followed by `@ms`. */
  digits(name: string): string | undefined {
    const value = this.text(name)?.replaceAll(/\s/g, '');
    if (value === undefined || isDigitString(value)) return value;
    return this.#wrong(name, DIGIT_STRING);
  }

  warn(message: string, attribute?: string): void {
    const offset = attribute === undefined ? this.element.offset : this.#attributeOffset(attribute);
    this.#warnings.push({ ...this.#positions.at(offset), message });
  }

  /** Throws `DocumentRefused` at the given attribute or child, or at the element if none is given. */
  refuse(
    message: string,
    expected: string,
    place: {
      readonly attribute?: string;
      readonly child?: XmlElement;
      readonly fault?: XmlProblem['fault'];
    } = {},
  ): never {
    const { attribute, child = this.element, fault } = place;
    const offset = attribute === undefined ? child.offset : this.#attributeOffset(attribute);
    throw new DocumentRefused(offset, message, expected, fault);
  }

  /** Returns `line` and `warnings` of the instruction. Call it last, and pass the warnings of the children. */
  sourced(children: readonly XmlWarning[] = []): {
    readonly line: number;
    readonly warnings: readonly XmlWarning[];
  } {
    for (const name of this.element.attributes.keys()) {
      if (this.#requested.has(name) || name.startsWith('xmlns')) continue;
      const known = [...this.#requested].find(
        (requested) => requested.toLowerCase() === name.toLowerCase(),
      );
      const hint = known === undefined ? '' : `; did you mean ${known}?`;
      this.warn(`<${this.element.name}> has no attribute ${name}: ignored${hint}`, name);
    }
    return { line: this.line, warnings: [...this.#warnings, ...children] };
  }

  #within(name: string, value: number, min: number, max: number, unit: string): number {
    if (value >= min && value <= max) return value;
    const taken = value < min ? min : max;
    this.warn(`${name}="${value}" is outside ${min}…${max}${unit}: ${taken} is used`, name);
    return taken;
  }

  #wrong(name: string, expected: string, fault?: XmlProblem['fault']): never {
    const value = this.element.attributes.get(name) ?? '';
    const shown = value.length > 80 ? `${value.slice(0, 80)}…` : value;
    return this.refuse(`${name}="${shown}" in <${this.element.name}>`, `${name}: ${expected}`, {
      attribute: name,
      ...(fault === undefined ? {} : { fault }),
    });
  }

  /** Offset of the attribute as a reader of the message would find it. */
  #attributeOffset(name: string): Offset {
    return this.#positions.ofAttribute(this.element.offset, name);
  }
}

export const isHttpUrl = (value: string): boolean =>
  value.length <= MAX_URL_LENGTH && /^https?:\/\/[^\s/]/i.test(value) && URL.canParse(value);

export const DIGIT_STRING = 'digits of 0-9, *, #, A-D, w (0.5 s) and W (1 s)';

export const isDigitString = (value: string): boolean =>
  /^[0-9*#A-Da-dwW]+(?:@\d{1,5})?$/.test(value);
