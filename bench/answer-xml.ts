/** Parsing of answer XML: validation and instructions, compared with the bare tree builder and a conforming parser in the same run. */
import { XMLParser } from 'fast-xml-parser';
import { SaxesParser } from 'saxes';
import { parseAnswerXml } from '../src/protocol/answer-xml/answer-xml.ts';
import type { Row } from './row.ts';

const WARM_UP_RUNS = 2000;
const ROUNDS = 15;
const RUNS_PER_ROUND = 200;

/** A menu with many prompts: about 2 KB. */
const document = [
  '<?xml version="1.0" encoding="UTF-8"?>',
  '<Response>',
  '  <Record fileFormat="mp3" recordSession="true" maxLength="3600" redirect="false" callbackUrl="https://app.example/rec?a=1&amp;b=2"/>',
  '  <GetDigits action="https://app.example/menu?tenant=7&amp;lang=en" method="POST" numDigits="1" timeout="7" retries="2">',
  ...Array.from(
    { length: 14 },
    (_, i) =>
      `    <Speak voice="WOMAN" language="en-US" loop="1">Press ${i} &amp; wait for the tone, please.</Speak>`,
  ),
  '  </GetDigits>',
  '  <Dial callerId="14155550100" timeout="30" action="https://app.example/dial" redirect="false">',
  '    <Number>14155550101</Number>',
  '    <User>sip:alice4821@registrar.example</User>',
  '  </Dial>',
  '  <Stream bidirectional="true" keepCallAlive="true" contentType="audio/x-mulaw;rate=8000">wss://bot.example/ws?call=1&amp;x=2</Stream>',
  '  <Hangup/>',
  '</Response>',
].join('\n');

export async function run(): Promise<Row[]> {
  const options = { allowInsecureStreams: false };
  if (!parseAnswerXml(document, options).ok)
    throw new Error('the document of the bench is refused');
  const builder = new XMLParser({ preserveOrder: true, ignoreAttributes: false });
  const ours = microseconds(() => parseAnswerXml(document, options));
  const tree = microseconds(() => builder.parse(document));
  const saxes = microseconds(() => new SaxesParser().write(document).close());
  const size = `${(document.length / 1024).toFixed(1)} KB document`;
  return [
    {
      name: 'answer XML: check and read',
      value: round(ours),
      unit: 'µs',
      floor: round(tree),
      ratio: round(ours / tree),
      note: `${size}; goal ≤ 200 µs; floor: fast-xml-parser alone, which checks little`,
    },
    {
      name: 'answer XML: saxes, well-formedness alone',
      value: round(saxes),
      unit: 'µs',
      note: `${size}; peer`,
    },
  ];
}

/** Median of several rounds, so that another process does not decide the result. */
function microseconds(work: () => unknown): number {
  for (let i = 0; i < WARM_UP_RUNS; i += 1) work();
  const rounds: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const started = performance.now();
    for (let i = 0; i < RUNS_PER_ROUND; i += 1) work();
    rounds.push(((performance.now() - started) * 1000) / RUNS_PER_ROUND);
  }
  rounds.sort((a, b) => a - b);
  return rounds[Math.floor(ROUNDS / 2)] ?? 0;
}

const round = (value: number): number => Math.round(value * 100) / 100;
