/** Validates names and values of custom SIP headers of calls (dialect §5.6). */
import { err, ok, type Result } from '../../../base/result.ts';

const NAME_MAX = 24;
const VALUE_MAX = 128;
export const HEADERS_MAX = 20;
const NAME = /^[A-Za-z0-9_-]+$/;
const CONTROL = /[\u0000-\u001f\u007f]/;

/** Returns the problem of a name, as text to follow it, or undefined if it is valid. */
export const headerNameProblem = (name: string): string | undefined =>
  NAME.test(name) && name.length <= NAME_MAX
    ? undefined
    : `is not a SIP header name: 1 to ${NAME_MAX} letters, digits, hyphens and underscores`;

/** Returns the problem of a value, as text to follow its header's name, or undefined if it is valid. */
export function headerValueProblem(value: string): string | undefined {
  if (value.length > VALUE_MAX) return `has more than ${VALUE_MAX} characters`;
  return CONTROL.test(value) ? 'has line breaks or control characters' : undefined;
}

/** Parses `key=value,key2=value2`. The error follows the field's name. */
export function parseHeaders(
  text: string,
): Result<ReadonlyArray<readonly [name: string, value: string]>, string> {
  const headers: (readonly [string, string])[] = [];
  for (const pair of text.split(',').filter((part) => part.trim() !== '')) {
    const at = pair.indexOf('=');
    const name = pair.slice(0, Math.max(0, at)).trimStart();
    const value = pair.slice(at + 1).trim();
    if (at < 0 || headerNameProblem(name) !== undefined) {
      return err('must have the form key=value,key2=value2');
    }
    const problem = headerValueProblem(value);
    if (problem !== undefined) return err(`holds ${name}, which ${problem}`);
    headers.push([name, value]);
  }
  if (headers.length > HEADERS_MAX) return err(`must have at most ${HEADERS_MAX} headers`);
  return ok(headers);
}
