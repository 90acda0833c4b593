/** MCP tools that need no service. */
import { readFileSync } from 'node:fs';
import { asAccountId } from '../../base/ids.ts';
import { systemRandom } from '../../base/system-random.ts';
import { systemClock } from '../../edge/clock/system-clock.ts';
import { openEgressGuard } from '../../edge/egress/egress.ts';
import { readWav } from '../../phone/audio/wav.ts';
import { parseAnswerXml } from '../../protocol/answer-xml/answer-xml.ts';
import { problems, table } from '../stream-test/observations.ts';
import { runStreamTest } from '../stream-test/run.ts';

const SPEECH = new URL('../../../fixtures/audio/speech.wav', import.meta.url);

export function validateDocument(xml: string): unknown {
  const read = parseAnswerXml(xml, { allowInsecureStreams: true });
  if (!read.ok) {
    const { line, column, message, expected } = read.error;
    return { valid: false, line, column, message, expected };
  }
  const warnings = read.value.flatMap(({ warnings: own }) => own);
  return { valid: true, elements: read.value.map(({ kind }) => kind), warnings };
}

/** Tests a bot with the bundled speech and returns the report. */
export async function streamReport(url: string, seconds: number): Promise<unknown> {
  const voice = readWav(readFileSync(SPEECH));
  if (!voice.ok) throw new Error(voice.error);
  if (!/^wss?:\/\//.test(url) || !URL.canParse(url)) throw new Error('url must be ws:// or wss://');
  const { seen } = await runStreamTest({
    url,
    voice: voice.value,
    durationMs: seconds * 1000,
    format: { encoding: 'audio/x-l16', rate: 8000 },
    extraHeaders: [],
    digits: '',
    accountId: asAccountId('MA_00000000000000000'),
    caFile: '',
    egress: openEgressGuard(),
    clock: systemClock,
    random: systemRandom,
    signUpgrade: () => Promise.resolve({}),
    progress: () => undefined,
  });
  return { faults: problems(seen), report: Object.fromEntries(table(seen)) };
}
