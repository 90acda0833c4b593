/** `npm run call`: a bundled phone that registers, calls, speaks, measures the audio and shows the service's records. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemRandom as random } from '../base/system-random.ts';
import { systemClock as clock } from '../edge/clock/system-clock.ts';
import { convertRate, readWav, writeWav } from './audio/wav.ts';
import { type PhoneOptions, readOptions, USAGE } from './options.ts';
import { type CallReport, placeCall } from './phone-call.ts';
import { callRows, formatRows, isEchoReceived, recordRows } from './report.ts';
import { VoiceChannel } from './rtp/voice-channel.ts';
import { fetchRecords } from './service-records.ts';
import { SipLine } from './sip-line.ts';

const SPEECH = new URL('../../fixtures/audio/speech.wav', import.meta.url);
const RATE_HZ = 8000;
/** Silence before the speech, in ms, while the far end opens its stream. */
const LEAD_IN_MS = 500;
/** Time to receive the last audio after the speech, in ms. */
const TAIL_MS = 1500;

async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2), process.env);
  if (options === 'help') {
    console.log(USAGE);
    return 0;
  }
  const voice = loadVoice(options);
  const line = await SipLine.open({
    ...options,
    host: options.sipHost,
    port: options.sipPort,
    clock,
    random,
  });
  try {
    await line.register();
    console.log(
      `registered ${options.username} at ${options.sipHost}:${options.sipPort} (${options.transport})`,
    );
    const report = await call(line, options, voice);
    const file = save(report, options);
    console.log(`\n${formatRows([...callRows(report), ['received', file]])}`);
    await showRecords(options, report);
    await line.unregister();
    return isEchoReceived(report) ? 0 : 1;
  } finally {
    await line.close();
  }
}

async function call(line: SipLine, options: PhoneOptions, voice: Int16Array): Promise<CallReport> {
  const channel = await VoiceChannel.open(line.localAddress, clock, random);
  const interrupted = new AbortController();
  const interrupt = (): void => interrupted.abort();
  process.once('SIGINT', interrupt);
  console.log(`calling ${options.dial} ...`);
  const spokenMs = (voice.length * 1000) / RATE_HZ;
  try {
    return await placeCall(line, channel, {
      to: options.dial,
      codec: options.codec,
      voice,
      durationMs: options.seconds === undefined ? spokenMs + TAIL_MS : options.seconds * 1000,
      digits: options.digits,
      signal: interrupted.signal,
      clock,
      random,
      progress,
    });
  } finally {
    process.off('SIGINT', interrupt);
    channel.close();
  }
}

/** Prints progress. On a terminal, updates of the active call replace the previous line. */
function progress(line: string, again: boolean): void {
  if (again && process.stdout.isTTY) process.stdout.write(`\r${line}\x1b[K`);
  else console.log(line);
}

function loadVoice({ wav }: PhoneOptions): Int16Array {
  const sound = readWav(readFileSync(wav ?? SPEECH));
  if (!sound.ok) throw new Error(`${wav ?? 'speech.wav'}: ${sound.error}`);
  const speech = convertRate(sound.value, RATE_HZ);
  const leadIn = (LEAD_IN_MS * RATE_HZ) / 1000;
  const voice = new Int16Array(leadIn + speech.length);
  voice.set(speech, leadIn);
  return voice;
}

function save({ received }: CallReport, { record, dataDir }: PhoneOptions): string {
  if (record === undefined) mkdirSync(dataDir, { recursive: true });
  const time = new Date(clock.wallMs()).toISOString().replace(/[-:]|\..*/g, '');
  const file = record ?? join(dataDir, `call-${time}.wav`);
  writeFileSync(file, writeWav({ rate: RATE_HZ, samples: received }));
  return file;
}

async function showRecords(options: PhoneOptions, { sipCallId }: CallReport): Promise<void> {
  if (options.baseUrl === '' || options.authId === '') return;
  const records = await fetchRecords({ ...options, clock }, sipCallId);
  if (records === undefined) console.log('\n  the REST API returned no CDR for this call');
  else console.log(`\n${formatRows(recordRows(records))}`);
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
