/** Options of the phone: arguments first, then the environment, then the file from the first start of the service. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { isDigit } from './rtp/packet.ts';

/** File that the first start of the service writes to the data folder. */
export interface DemoFile {
  readonly sipHost: string;
  readonly sipPort: number;
  readonly username: string;
  readonly password: string;
  readonly dial: string;
  readonly baseUrl: string;
  readonly authId: string;
  readonly authToken: string;
}

export interface PhoneOptions extends DemoFile {
  readonly transport: 'udp' | 'tcp';
  readonly codec: 'PCMU' | 'PCMA';
  /** WAV file to send; undefined: the sample sentence in fixtures/audio. */
  readonly wav: string | undefined;
  /** Duration of the call in s; undefined: until the speech has returned. */
  readonly seconds: number | undefined;
  /** File for the recording; undefined: data/call-<time>.wav. */
  readonly record: string | undefined;
  readonly digits: string;
  readonly dataDir: string;
}

export const USAGE = `usage: npm run call -- [options]

  --to NUMBER        number to call; default: the echo bot of the demo
  --wav FILE         16-bit PCM WAV file to send; default: fixtures/audio/speech.wav
  --seconds N        duration of the call; default: until the echo of the audio was received
  --codec NAME       pcmu (default) or pcma
  --transport NAME   udp (default) or tcp
  --dtmf KEYS        keypad digits to send, one per second
  --record FILE      WAV file for the received audio; default: data/call-<time>.wav
  --server HOST:PORT --user NAME --password SECRET
                     or PHONE_SERVER, PHONE_USER, PHONE_PASSWORD; default: data/demo.json

PHONE_BASE_URL, PHONE_AUTH_ID and PHONE_AUTH_TOKEN: account whose call record is shown. CARILLON_DATA_DIR: data folder.`;

type Environment = Readonly<Record<string, string | undefined>>;

/** Throws an Error with a one-line message for the user. 'help' requests the usage text. */
export function readOptions(argv: readonly string[], env: Environment): PhoneOptions | 'help' {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      to: { type: 'string' },
      wav: { type: 'string' },
      seconds: { type: 'string' },
      codec: { type: 'string', default: 'pcmu' },
      transport: { type: 'string', default: 'udp' },
      dtmf: { type: 'string', default: '' },
      record: { type: 'string' },
      server: { type: 'string' },
      user: { type: 'string' },
      password: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return 'help';
  const dataDir = env['CARILLON_DATA_DIR'] || 'data';
  const file = readDemoFile(join(dataDir, 'demo.json'));
  const server = values.server ?? env['PHONE_SERVER'];
  const { host: sipHost, port: sipPort } =
    server === undefined ? serverOf(file) : splitServer(server);
  return {
    sipHost,
    sipPort,
    username: values.user ?? env['PHONE_USER'] ?? needed(file?.username, '--user'),
    password: values.password ?? env['PHONE_PASSWORD'] ?? needed(file?.password, '--password'),
    dial: values.to ?? needed(file?.dial, '--to'),
    baseUrl: env['PHONE_BASE_URL'] ?? file?.baseUrl ?? '',
    authId: env['PHONE_AUTH_ID'] ?? file?.authId ?? '',
    authToken: env['PHONE_AUTH_TOKEN'] ?? file?.authToken ?? '',
    transport: choice('--transport', values.transport.toLowerCase(), ['udp', 'tcp']),
    codec: choice('--codec', values.codec.toUpperCase(), ['PCMU', 'PCMA']),
    wav: values.wav,
    seconds: values.seconds === undefined ? undefined : positive('--seconds', values.seconds),
    record: values.record,
    digits: keys(values.dtmf.toUpperCase()),
    dataDir,
  };
}

function readDemoFile(path: string): Partial<DemoFile> | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Partial<DemoFile>;
  } catch {
    return undefined;
  }
}

const serverOf = (file: Partial<DemoFile> | undefined) => ({
  host: needed(file?.sipHost, '--server'),
  port: needed(file?.sipPort, '--server'),
});

function needed<T>(value: T | undefined, option: string): T {
  if (value !== undefined) return value;
  throw new Error(
    `${option} is missing and not in data/demo.json: start the service first (npm start), or see --help`,
  );
}

function splitServer(text: string): { readonly host: string; readonly port: number } {
  const match = /^(?:\[([0-9a-f:.]+)\]|([^:]+))(?::(\d{1,5}))?$/i.exec(text);
  const host = match?.[1] ?? match?.[2];
  if (host === undefined) throw new Error(`--server must be host:port, not "${text}"`);
  return { host, port: Number(match?.[3] ?? 5060) };
}

function choice<const C extends string>(option: string, value: string, allowed: readonly C[]): C {
  const found = allowed.find((candidate) => candidate === value);
  if (found === undefined) throw new Error(`${option} must be one of ${allowed.join(', ')}`);
  return found;
}

function positive(option: string, text: string): number {
  const value = Number(text);
  if (!(value > 0 && value <= 3600)) throw new Error(`${option} must be from 1 to 3600`);
  return value;
}

function keys(text: string): string {
  if ([...text].every(isDigit)) return text;
  throw new Error('--dtmf accepts 0-9, *, # and A-D');
}
