/** Header lines of a message and operations on lists of them. */
import { BugError } from '../../../base/errors.ts';
import { fieldNameOf, headerKey } from './names.ts';
import { splitList } from './text.ts';

/** One header line: `name` as received, `key` in lower case and long form, `value` unfolded and trimmed. */
export interface HeaderField {
  readonly name: string;
  readonly key: string;
  readonly value: string;
}

export type HeaderInit = readonly (readonly [name: string, value: string])[];

const LINE_BREAK = /[\r\n]/;

/** Creates a header field. Throws `BugError` if the value contains a line break, which would forge a header. */
export function headerField(name: string, value: string): HeaderField {
  if (LINE_BREAK.test(value)) throw new BugError(`line break in the value of ${name}`);
  const written = fieldNameOf(name);
  return { name: written.name, key: written.key, value };
}

/** Returns the fields with all lines of `name` replaced by one, at the position of the first (or at the end). */
export function replaced(
  fields: readonly HeaderField[],
  name: string,
  value: string,
): HeaderField[] {
  const field = headerField(name, value);
  const at = fields.findIndex((other) => other.key === field.key);
  const out = fields.filter((other, index) => other.key !== field.key || index === at);
  if (at === -1) out.push(field);
  else out[at] = field;
  return out;
}

export const without = (fields: readonly HeaderField[], name: string): HeaderField[] => {
  const key = headerKey(name);
  return fields.filter((field) => field.key !== key);
};

/** Replaces the top element of a list header; the other elements of its line move to a separate line. */
export function withTop(
  fields: readonly HeaderField[],
  name: string,
  value: string,
): HeaderField[] {
  const top = headerField(name, value);
  const at = fields.findIndex((field) => field.key === top.key);
  if (at === -1) return [top, ...fields];
  const out = [...fields];
  const [, ...rest] = splitList(fields[at]?.value ?? '');
  if (rest.length === 0) out[at] = top;
  else out.splice(at, 1, top, headerField(name, rest.join(', ')));
  return out;
}
