/**
 * RTP programs without SIP: a test phone line sets up the call, and the programs send and receive its audio.
 * Each sends a tone from one port and receives on another; `OnePort` joins both to one port, as phones use.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemRandom as random } from '../../src/base/system-random.ts';
import { systemClock as clock } from '../../src/edge/clock/system-clock.ts';
import { type PhoneCall, SipLine } from '../../src/phone/sip-line.ts';
import type { SipUser } from '../e2e/phone.ts';
import { eventually, freePort, type Service } from '../e2e/service.ts';

/** Sample rate of the decoded audio of every tool, one channel, Hz. */
export const EAR_RATE = 48_000;
/** Peak of the sent tone, as a share of full scale. */
const LEVEL = 0.25;
const SUITE = 'AES_CM_128_HMAC_SHA1_80';
/** Bytes of the SRTP master key and salt (RFC 3711). */
const KEY_BYTES = 16 + 14;
const LOOPBACK = '127.0.0.1';

/** Names of a codec in SDP and in each program. */
export interface ToolCodec {
  readonly payloadType: number;
  /** Encoding name in SDP. */
  readonly encoding: string;
  /** Sample rate of the encoder input, Hz. For G.722 it differs from the RTP clock rate. */
  readonly rate: number;
  readonly ffmpeg: readonly string[];
  readonly gstreamer: { readonly say: string; readonly hear: string };
}

export const CODECS = {
  PCMU: {
    payloadType: 0,
    encoding: 'PCMU/8000',
    rate: 8000,
    ffmpeg: ['-c:a', 'pcm_mulaw'],
    gstreamer: { say: 'mulawenc ! rtppcmupay', hear: 'rtppcmudepay ! mulawdec' },
  },
  G722: {
    payloadType: 9,
    encoding: 'G722/8000',
    rate: 16_000,
    ffmpeg: ['-c:a', 'g722'],
    gstreamer: { say: 'avenc_g722 ! rtpg722pay', hear: 'rtpg722depay ! avdec_g722' },
  },
  OPUS: {
    payloadType: 96,
    encoding: 'opus/48000/2',
    rate: 48_000,
    ffmpeg: ['-c:a', 'libopus', '-frame_duration', '20'],
    gstreamer: { say: 'opusenc ! rtpopuspay', hear: 'rtpopusdepay ! opusdec' },
  },
} as const satisfies Record<string, ToolCodec>;

/** Parameters of one direction of a call. `key` is the sender's SDES key in base64. */
interface Way {
  readonly codec: ToolCodec;
  readonly port: number;
  readonly key?: string | undefined;
}

interface Command {
  readonly program: string;
  readonly args: readonly string[];
}

/** Command lines of one program for sending and receiving. */
interface Tool {
  say(way: Way, hz: number): Command;
  hear(way: Way, place: { readonly folder: string; readonly ssrc: number }): Command;
}

const ffmpeg: Tool = {
  say: ({ codec, port, key }, hz) => ({
    program: 'ffmpeg',
    args: [
      ...['-hide_banner', '-loglevel', 'error', '-re', '-f', 'lavfi'],
      // Sets 20 ms packets for encoders without their own frame length.
      '-i',
      `aevalsrc=${LEVEL}*sin(2*PI*${hz}*t):s=${codec.rate}:n=${codec.rate / 50}`,
      ...codec.ffmpeg,
      ...(key === undefined ? [] : ['-srtp_out_suite', SUITE, '-srtp_out_params', key]),
      ...['-payload_type', String(codec.payloadType), '-f', 'rtp'],
      `${key === undefined ? 'rtp' : 'srtp'}://${LOOPBACK}:${port}?rtcpport=${port}`,
    ],
  }),
  hear(way, { folder }) {
    const file = join(folder, `${way.port}.sdp`);
    writeFileSync(file, sdpOf(way));
    return {
      program: 'ffmpeg',
      args: [
        ...['-hide_banner', '-loglevel', 'error', '-protocol_whitelist', 'file,udp,rtp,srtp'],
        ...['-fflags', 'nobuffer', '-analyzeduration', '200000', '-i', file],
        ...['-ac', '1', '-ar', String(EAR_RATE), '-f', 's16le', '-flush_packets', '1', 'pipe:1'],
      ],
    };
  },
};

const hexOf = (key: string): string => Buffer.from(key, 'base64').toString('hex');
const launch = (pipeline: string): Command => ({
  program: 'gst-launch-1.0',
  args: ['-q', ...pipeline.split(' ')],
});

const gstreamer: Tool = {
  say({ codec, port, key }, hz) {
    const { payloadType, rate, gstreamer: names } = codec;
    const cipher =
      key === undefined
        ? ''
        : ` ! srtpenc key=${hexOf(key)} rtp-cipher=aes-128-icm rtp-auth=hmac-sha1-80`;
    return launch(
      `audiotestsrc is-live=true freq=${hz} volume=${LEVEL} samplesperbuffer=${rate / 50}` +
        ` ! audio/x-raw,rate=${rate},channels=1 ! ${names.say} pt=${payloadType}${cipher}` +
        ` ! udpsink host=${LOOPBACK} port=${port}`,
    );
  },
  hear({ codec, port, key }, { ssrc }) {
    const [encoding, clockRate] = codec.encoding.split('/');
    const caps = [
      key === undefined ? 'application/x-rtp' : 'application/x-srtp',
      'media=(string)audio',
      `clock-rate=(int)${clockRate}`,
      `encoding-name=(string)${encoding?.toUpperCase()}`,
      `payload=(int)${codec.payloadType}`,
      ...(key === undefined
        ? []
        : [
            `ssrc=(uint)${ssrc}`,
            `srtp-key=(buffer)${hexOf(key)}`,
            ...['srtp', 'srtcp'].map((which) => `${which}-cipher=(string)aes-128-icm`),
            ...['srtp', 'srtcp'].map((which) => `${which}-auth=(string)hmac-sha1-80`),
          ]),
    ];
    return launch(
      `udpsrc address=${LOOPBACK} port=${port} caps=${caps.join(',')}` +
        (key === undefined ? '' : ' ! srtpdec') +
        ` ! rtpjitterbuffer latency=60 ! ${codec.gstreamer.hear} ! audioconvert ! audioresample` +
        ` ! audio/x-raw,format=S16LE,rate=${EAR_RATE},channels=1 ! fdsink fd=1`,
    );
  },
};

const TOOLS = { ffmpeg, gstreamer };

/** Whether GStreamer elements are missing. Logs their names; each belongs to a plugin package. */
export function lacksElements(...names: readonly string[]): boolean {
  const absent = names.filter(
    (name) => spawnSync('gst-inspect-1.0', ['--exists', name]).status !== 0,
  );
  if (absent.length > 0) console.log(`skipped: GStreamer has no ${absent.join(', ')}`);
  return absent.length > 0;
}

function sdpOf({ codec, port, key }: Way): string {
  return [
    'v=0',
    `o=- 1 1 IN IP4 ${LOOPBACK}`,
    's=-',
    `c=IN IP4 ${LOOPBACK}`,
    't=0 0',
    `m=audio ${port} RTP/${key === undefined ? 'AVP' : 'SAVP'} ${codec.payloadType}`,
    `a=rtpmap:${codec.payloadType} ${codec.encoding}`,
    'a=ptime:20',
    ...(key === undefined ? [] : [`a=crypto:1 ${SUITE} inline:${key}`]),
    '',
  ].join('\r\n');
}

/** Returns the key in `a=crypto` of the answer. Throws if the answer has none. */
function keyIn(sdp: string): string {
  const [, key] = new RegExp(`^a=crypto:1 ${SUITE} inline:([\\w+/=]+)`, 'm').exec(sdp) ?? [];
  if (key === undefined || !/^m=audio \d+ RTP\/SAVP /m.test(sdp))
    throw new Error(`no SRTP: ${sdp}`);
  return key;
}

/**
 * Joins the tool's two ports to one: packets from the service go to the tool's receive port, all others to the service.
 * Forwards packets unchanged. Drops RTCP, because the pipelines have no session that reads it.
 */
class OnePort {
  readonly #socket: Socket;
  readonly #listener: number;
  #service: number | undefined;
  /** SSRC of the service's last packet. */
  ssrc: number | undefined;

  private constructor(socket: Socket, listener: number) {
    this.#socket = socket;
    this.#listener = listener;
    socket.on('message', (bytes, from) => this.#pass(bytes, from.port));
    socket.on('error', () => undefined);
  }

  static async open(listener: number): Promise<OnePort> {
    const socket = createSocket('udp4').bind(0, LOOPBACK);
    await once(socket, 'listening');
    return new OnePort(socket, listener);
  }

  get port(): number {
    return this.#socket.address().port;
  }

  towards(service: number): void {
    this.#service = service;
  }

  close(): void {
    this.#socket.close();
  }

  #pass(bytes: Buffer, from: number): void {
    const isRtcp = (bytes[1] ?? 0) >= 192 && (bytes[1] ?? 0) <= 223;
    if (this.#service === undefined || isRtcp || bytes.length < 12) return;
    const isFromService = from === this.#service;
    if (isFromService) this.ssrc = bytes.readUInt32BE(8);
    this.#socket.send(bytes, isFromService ? this.#listener : this.#service, LOOPBACK);
  }
}

/** A running program and its output. */
class Running {
  readonly #child: ChildProcess;
  readonly #parts: Buffer[] = [];
  #stderr = '';

  constructor({ program, args }: Command) {
    this.#child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child.stdout?.on('data', (part: Buffer) => this.#parts.push(part));
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-2000);
    });
  }

  get stdout(): Buffer {
    return Buffer.concat(this.#parts);
  }

  get stderr(): string {
    return this.#stderr;
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = once(this.#child, 'close');
    this.#child.kill('SIGKILL');
    await gone;
  }
}

export interface ToolCallOptions {
  readonly tool: keyof typeof TOOLS;
  readonly codec: ToolCodec;
  readonly secure: boolean;
  /** Frequency that the tool sends, Hz. */
  readonly hz: number;
  readonly folder: string;
}

/** A call whose audio a tool sends and receives. */
export class ToolCall {
  readonly #line: SipLine;
  readonly #call: PhoneCall;
  readonly #port: OnePort;
  readonly #ended: Promise<unknown>;
  readonly #programs: Running[] = [];
  #listener: Running | undefined;

  private constructor(line: SipLine, call: PhoneCall, port: OnePort, ended: Promise<unknown>) {
    this.#line = line;
    this.#call = call;
    this.#port = port;
    this.#ended = ended;
  }

  /** Starts the call. Resolves once the tool sends and receives. */
  static async begin(
    service: Service,
    user: SipUser,
    { tool, codec, secure, hz, folder }: ToolCallOptions,
  ): Promise<ToolCall> {
    const to = { host: LOOPBACK, port: service.sipPort, transport: 'udp' } as const;
    const line = await SipLine.open({ ...user, ...to, clock, random });
    const listener = await freePort();
    const port = await OnePort.open(listener);
    const own = secure ? randomBytes(KEY_BYTES).toString('base64') : undefined;
    const answered = Promise.withResolvers<string>();
    const ended = Promise.withResolvers<void>();
    const phoneCall = line.call('1000', sdpOf({ codec, port: port.port, key: own }), {
      ringing: () => undefined,
      connected: (sdp) => answered.resolve(sdp ?? ''),
      offered: () => undefined,
      ended: ({ how, status }) => {
        answered.reject(new Error(`not answered: ${how} ${status ?? ''}`));
        ended.resolve();
      },
    });
    const call = new ToolCall(line, phoneCall, port, ended.promise);
    try {
      const sdp = await answered.promise;
      port.towards(Number(/^m=audio (\d+)/m.exec(sdp)?.[1]));
      call.#run(TOOLS[tool].say({ codec, port: port.port, key: own }, hz));
      // srtpdec requires the SSRC of the key; other tools do not.
      const ssrc = await eventually('a packet of the service', () => port.ssrc);
      const key = secure ? keyIn(sdp) : undefined;
      call.#listener = call.#run(
        TOOLS[tool].hear({ codec, port: listener, key }, { folder, ssrc }),
      );
      return call;
    } catch (error) {
      await call.end();
      throw error;
    }
  }

  get sipCallId(): string {
    return this.#call.sipCallId;
  }

  /** Signed 16-bit samples at `EAR_RATE`, little-endian. */
  get received(): Buffer {
    return this.#listener?.stdout ?? Buffer.alloc(0);
  }

  /** Error output of the programs. */
  get complaints(): string {
    return this.#programs.map(({ stderr }) => stderr).join('\n');
  }

  async end(): Promise<void> {
    this.#call.hangup();
    await this.#ended;
    for (const program of this.#programs) await program.stop();
    this.#port.close();
    await this.#line.close();
  }

  #run(command: Command): Running {
    const running = new Running(command);
    this.#programs.push(running);
    return running;
  }
}
