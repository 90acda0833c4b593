/** Destinations of a Dial that no `Number` or `User` element describes: those of transfers. */
import type { DialDestination } from '../../../protocol/answer-xml/answer-xml.ts';

const common = (line: number) => ({
  line,
  callerId: undefined,
  callerName: undefined,
  sipHeaders: [],
  sendDigits: undefined,
  sendOnPreanswer: false,
  sendDigitsMode: undefined,
});

/** `line`: line of the `Dial` in its document; 0 without a document. */
export const numberDestination = (number: string, line: number): DialDestination => ({
  ...common(line),
  kind: 'number',
  number,
});

export const userDestination = (uri: string, line: number): DialDestination => ({
  ...common(line),
  kind: 'user',
  uri,
  sipAuthUsername: undefined,
  sipAuthPassword: undefined,
});
