/** `carillon stream test wss://…`: connects to a bot as the service would, without a call. */

import { readFileSync, writeFileSync } from 'node:fs';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { asAccountId } from '../base/ids.ts';
import { systemRandom } from '../base/system-random.ts';
import { signatureNonce, upgradeSignatureHeaders } from '../domain/callback/callback.ts';
import { systemClock } from '../edge/clock/system-clock.ts';
import { openEgressGuard } from '../edge/egress/egress.ts';
import { readWav, type Sound, writeWav } from '../phone/audio/wav.ts';
import type { StreamFormat } from '../protocol/audio-stream/audio-stream.ts';
import { problems, table } from './stream-test/observations.ts';
import { runStreamTest } from './stream-test/run.ts';

const SPEECH = new URL('../../fixtures/audio/speech.wav', import.meta.url);
const DEFAULT_FORMAT = 'audio/x-l16;rate=8000';
const FORMATS: Readonly<Record<string, StreamFormat>> = {
  'audio/x-l16;rate=8000': { encoding: 'audio/x-l16', rate: 8000 },
  'audio/x-l16;rate=16000': { encoding: 'audio/x-l16', rate: 16000 },
  'audio/x-mulaw;rate=8000': { encoding: 'audio/x-mulaw', rate: 8000 },
};
const SIGNATURE_HEADERS = ['X-Vobiz-Signature', 'X-Plivo-Signature'];

interface StreamTestFlags {
  readonly wav: string | undefined;
  readonly seconds: number | undefined;
  readonly record: string | undefined;
  readonly format: StreamFormat;
  readonly header: ReadonlyArray<readonly [string, string]>;
  readonly dtmf: string;
  readonly authId: string;
  readonly authToken: string | undefined;
  readonly ca: string;
}

/** Adds `stream test <url>`. The command sets exit status 1 if it finds a fault. */
export function addStreamCommands(program: Command): void {
  program
    .command('stream')
    .description('Test audio streams')
    .command('test')
    .description("connect to a bot's WebSocket as the service would, speak, listen, and report")
    .argument('<url>', 'wss:// or ws:// URL of the bot')
    .option('--wav <file>', '16-bit PCM WAV file to send to the bot', undefined)
    .option('--seconds <n>', 'duration of the test; default: the speech and five seconds', positive)
    .option('--record <file>', 'record the audio of the bot to this WAV file')
    .addOption(
      new Option('--format <type>', 'contentType of the stream')
        .argParser(format)
        .default(FORMATS[DEFAULT_FORMAT], DEFAULT_FORMAT),
    )
    .option('--header <k=v>', 'extra header; repeatable', header, [])
    .option('--dtmf <keys>', 'DTMF keys to send, one per second', keys, '')
    .option('--auth-id <id>', 'accountId in the start message', 'MA_00000000000000000')
    .option('--auth-token <token>', 'token that signs the upgrade; default: CARILLON_AUTH_TOKEN')
    .option('--ca <file>', 'PEM file of a certificate authority to trust', '')
    .action(async (url: string, flags: StreamTestFlags) => {
      process.exitCode = await streamTest(url, flags, (line) => console.log(line));
    });
}

async function streamTest(
  url: string,
  flags: StreamTestFlags,
  print: (line: string) => void,
): Promise<0 | 1> {
  const voice = loadVoice(flags.wav);
  const spokenMs = (voice.samples.length * 1000) / voice.rate;
  const token = flags.authToken ?? process.env['CARILLON_AUTH_TOKEN'];
  const { seen, recording } = await runStreamTest({
    url,
    voice,
    durationMs: flags.seconds === undefined ? spokenMs + 5000 : flags.seconds * 1000,
    format: flags.format,
    extraHeaders: flags.header,
    digits: flags.dtmf,
    accountId: asAccountId(flags.authId),
    caFile: flags.ca,
    egress: openEgressGuard(),
    clock: systemClock,
    random: systemRandom,
    signUpgrade: (signed) => Promise.resolve(token === undefined ? {} : signature(signed, token)),
    progress: print,
  });
  const rows = table(seen);
  const width = Math.max(...rows.map(([what]) => what.length)) + 2;
  for (const [what, value] of rows) print(`${what.padEnd(width)}${value}`);
  if (flags.record !== undefined && recording !== undefined) {
    writeFileSync(flags.record, writeWav(recording));
    print(`${'recorded to'.padEnd(width)}${flags.record}`);
  }
  const wrong = problems(seen, flags.format.rate);
  print(wrong.length === 0 ? 'No fault found.' : 'Faults:');
  for (const words of wrong) print(`  - ${words}`);
  return wrong.length === 0 ? 0 : 1;
}

const signature = (url: string, token: string): Record<string, string> =>
  upgradeSignatureHeaders(
    url,
    { own: token, parent: undefined },
    SIGNATURE_HEADERS,
    signatureNonce(systemRandom),
  );

function loadVoice(file: string | undefined): Sound {
  const sound = readWav(readFileSync(file ?? SPEECH));
  if (!sound.ok) throw new Error(`${file ?? 'speech.wav'}: ${sound.error}`);
  return sound.value;
}

function positive(text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new InvalidArgumentError('must be a number above 0');
  return value;
}

function format(text: string): StreamFormat {
  const found = FORMATS[text.replaceAll(' ', '')];
  if (found === undefined) {
    throw new InvalidArgumentError(`must be one of ${Object.keys(FORMATS).join(', ')}`);
  }
  return found;
}

function header(
  text: string,
  before: ReadonlyArray<readonly [string, string]>,
): ReadonlyArray<readonly [string, string]> {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('must be key=value');
  return [...before, [text.slice(0, at), text.slice(at + 1)]];
}

function keys(text: string): string {
  if (!/^[0-9*#A-D]*$/.test(text)) throw new InvalidArgumentError('must contain only 0-9 * # A-D');
  return text;
}
