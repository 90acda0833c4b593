/**
 * SSML (W3C 1.1, the elements of dialect §2.1 Speak): flattened for engines without SSML, sanitized for an engine with
 * SSML.
 */

import { SSML_ELEMENTS } from '../../protocol/answer-xml/answer-xml.ts';

export type SpeechPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'silence'; readonly ms: number };

const TAG = /<(\/?)([a-zA-Z][\w:-]*)((?:\s+[\w:-]+\s*=\s*(?:"[^"]*"|'[^']*'))*)\s*(\/?)>/g;
const MAX_BREAK_MS = 10_000;
const MEDIUM_BREAK_MS = 400;
const BREAK_STRENGTHS_MS: Readonly<Record<string, number>> = {
  none: 0,
  'x-weak': 100,
  weak: 250,
  medium: MEDIUM_BREAK_MS,
  strong: 700,
  'x-strong': 1000,
};
/** Values of `interpret-as` that are spelled out. */
const SPELLED = new Set(['characters', 'spell-out', 'digits', 'telephone', 'verbatim']);

/** Removes elements other than those for speech, because engines may support unsafe ones, such as playing a local file. */
export function safeSsml(ssml: string): string {
  const spoken = ssml.replace(TAG, (tag, _close, name: string) =>
    SSML_ELEMENTS.has(name.toLowerCase()) ? tag : ' ',
  );
  return `<speak>${spoken}</speak>`;
}

/** Returns text and pauses in order, for an engine that accepts plain text. */
export function flattenSsml(ssml: string): readonly SpeechPart[] {
  const parts: SpeechPart[] = [];
  /** Open elements, each with a function that may replace its content. */
  const open: Array<{ readonly name: string; readonly content: (inner: string) => string }> = [];
  let text = '';
  const say = (raw: string): void => {
    text += open.reduceRight((inner, element) => element.content(inner), decodeEntities(raw));
  };
  const flush = (): void => {
    const words = text.replace(/\s+/g, ' ').trim();
    if (words !== '') parts.push({ kind: 'text', text: words });
    text = '';
  };
  let at = 0;
  for (const tag of ssml.matchAll(TAG)) {
    const [whole, close, rawName = '', attributes = '', selfClosed] = tag;
    const name = rawName.toLowerCase();
    say(ssml.slice(at, tag.index));
    at = tag.index + whole.length;
    if (name === 'break' && close === '') {
      flush();
      parts.push({ kind: 'silence', ms: breakMs(attributes) });
    } else if (close === '/') {
      const opened = open.findLastIndex((element) => element.name === name);
      if (opened >= 0) open.splice(opened);
      if (name === 'p' || name === 's') text += '. ';
    } else if (selfClosed === '') {
      // The substitute is spoken once and replaces the whole content.
      if (name === 'sub') text += ` ${attribute(attributes, 'alias') ?? ''} `;
      open.push({ name, content: contentRule(name, attributes) });
    }
  }
  say(ssml.slice(at));
  flush();
  return parts.map((part) => (part.kind === 'text' ? { ...part, text: tidy(part.text) } : part));
}

function contentRule(name: string, attributes: string): (inner: string) => string {
  if (name === 'sub') return () => '';
  const how = attribute(attributes, 'interpret-as');
  if (name === 'say-as' && how !== undefined && SPELLED.has(how)) {
    return (inner) => ` ${[...inner.replace(/[\s()+-]/g, '')].join(' ')} `;
  }
  return (inner) => inner;
}

function breakMs(attributes: string): number {
  const time = /^(\d+(?:\.\d+)?|\.\d+)(ms|s)$/.exec(attribute(attributes, 'time')?.trim() ?? '');
  if (time !== null) {
    const ms = Number(time[1]) * (time[2] === 's' ? 1000 : 1);
    return Math.min(Math.round(ms), MAX_BREAK_MS);
  }
  return BREAK_STRENGTHS_MS[attribute(attributes, 'strength') ?? 'medium'] ?? MEDIUM_BREAK_MS;
}

function attribute(attributes: string, name: string): string | undefined {
  const found = new RegExp(`(?:^|\\s)${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`).exec(attributes);
  const raw = found?.[1] ?? found?.[2];
  return raw === undefined ? undefined : decodeEntities(raw);
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
};

function decodeEntities(text: string): string {
  return text.replace(
    /&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|([a-z]+));/gi,
    (whole, hex, decimal, name) => {
      if (name !== undefined) return ENTITIES[String(name).toLowerCase()] ?? whole;
      const code = hex === undefined ? Number(decimal) : Number.parseInt(String(hex), 16);
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    },
  );
}

/** Removes the full stops added for `p` and `s` if punctuation precedes them, or if there is no text. */
const tidy = (text: string): string =>
  text.replace(/([.!?:;])(?:\s*\.)+(?=\s|$)/g, '$1').replace(/^[.\s]+(?=\w)/, '');
