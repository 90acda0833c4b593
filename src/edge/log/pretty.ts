import type { DestinationStream } from 'pino';

const COLOURS: Readonly<Record<string, number>> = { debug: 90, info: 32, warn: 33, error: 31 };
const WIDTH = 5;

/** Formats log lines for terminals: time, level, call, message, fields. Escapes terminal control characters. */
export function prettyLines(write: (text: string) => void): DestinationStream {
  return { write: (line) => write(`${prettyLine(line)}\n`) };
}

export function prettyLine(line: string): string {
  let entry: Readonly<Record<string, unknown>>;
  try {
    entry = JSON.parse(line) as Readonly<Record<string, unknown>>;
  } catch {
    return printable(line.trimEnd());
  }
  const { time, level, msg, callUuid, error, ...facts } = entry;
  const name = String(level);
  const call = typeof callUuid === 'string' ? [dim(callUuid)] : [];
  return [
    dim(String(time).slice(11, 23)),
    `\u001b[${COLOURS[name] ?? 0}m${name.toUpperCase().padEnd(WIDTH)}\u001b[0m`,
    ...call,
    printable(String(msg ?? '')),
    ...Object.entries(facts).map(([key, value]) => dim(`${key}=${shown(value)}`)),
    ...(error === undefined ? [] : [`\n${trace(error)}`]),
  ].join(' ');
}

const dim = (text: string): string => `\u001b[2m${printable(text)}\u001b[0m`;

const shown = (value: unknown): string =>
  typeof value === 'string' && /^[\w./:@+-]+$/.test(value) ? value : JSON.stringify(value);

function trace(error: unknown): string {
  const stack: unknown =
    typeof error === 'object' && error !== null ? Reflect.get(error, 'stack') : undefined;
  return printable(typeof stack === 'string' ? stack : JSON.stringify(error), '\n');
}

/** Replaces control characters, so that a name in a packet cannot control the terminal. */
function printable(text: string, retained = ''): string {
  let out = '';
  for (const char of text) {
    const code = char.charCodeAt(0);
    const isControl = code < 0x20 || (code >= 0x7f && code < 0xa0);
    out +=
      isControl && !retained.includes(char) ? `\\x${code.toString(16).padStart(2, '0')}` : char;
  }
  return out;
}
