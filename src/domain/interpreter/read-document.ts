import { RecentMap } from '../../base/recent-map.ts';
import { parseAnswerXml } from '../../protocol/answer-xml/answer-xml.ts';
import type { InterpreterNeeds } from './needs.ts';

type Read = ReturnType<typeof parseAnswerXml>;

/** Longest cached document, in UTF-16 units. */
const LONGEST_RETAINED = 4096;
const lately = new RecentMap<Read>(400);

/** Parses answer XML, with a cache: many applications answer each call with the same document. */
export function readDocument(
  text: string,
  { allowInsecureStreams }: InterpreterNeeds['settings'],
): Read {
  const key = `${allowInsecureStreams ? 'ws' : 'wss'} ${text}`;
  const known = lately.get(key);
  if (known !== undefined) return known;
  const read = parseAnswerXml(text, { allowInsecureStreams });
  if (text.length <= LONGEST_RETAINED) lately.set(key, read);
  return read;
}
