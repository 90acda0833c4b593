/** Runs baresip as a test phone. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { readWav } from '../../src/phone/audio/wav.ts';
import { eventually, freePort } from '../e2e/service.ts';

const SPEECH = new URL('../../fixtures/audio/speech.wav', import.meta.url).pathname;

export interface BaresipOptions {
  /** Additional lines of its configuration file. */
  readonly settings?: readonly string[];
  /** WAV file to send after a second of silence. Default: speech. */
  readonly says?: string;
  /** Sample rate of its audio, Hz. */
  readonly rate?: number;
  /** Its address. Default 127.0.0.1. */
  readonly address?: string;
  /** Whether `output` includes its SIP messages. */
  readonly traces?: boolean;
}

/** A baresip process with one account, controlled through its TCP control port (netstrings of JSON). */
export class Baresip {
  readonly child: ChildProcess;
  readonly #control: Socket;
  #events = '';
  output = '';

  private constructor(child: ChildProcess, control: Socket) {
    this.child = child;
    this.#control = control;
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.output += text;
      });
    }
    control.setEncoding('utf8').on('data', (text: string) => {
      this.#events += text;
    });
    control.on('error', () => undefined);
  }

  static async start(
    folder: string,
    account: string,
    {
      settings = [],
      says = SPEECH,
      rate = 8000,
      address = '127.0.0.1',
      traces = false,
    }: BaresipOptions = {},
  ): Promise<Baresip> {
    const [sip, control] = [await freePort(), await freePort()];
    mkdirSync(folder, { recursive: true });
    const codecs = ['g711', 'g722', 'opus'];
    const modules = ['aufile', 'sndfile', 'srtp', 'uuid', 'account', 'menu', 'ctrl_tcp'];
    const config = [
      `net_interface ${address}`,
      `sip_listen ${address.includes(':') ? `[${address}]` : address}:${sip}`,
      ...settings,
      'rtp_ports 48000-48100',
      'module_path /usr/lib/baresip/modules',
      ...[...codecs, ...modules.slice(0, 3)].map((name) => `module ${name}.so`),
      ...modules.slice(3, 5).map((name) => `module_tmp ${name}.so`),
      ...modules.slice(5).map((name) => `module_app ${name}.so`),
      `audio_source aufile,${join(folder, 'in.wav')}`,
      `audio_player aufile,${join(folder, 'unused.wav')}`,
      `ausrc_srate ${rate}`,
      'ausrc_channels 1',
      `auplay_srate ${rate}`,
      'auplay_channels 1',
      `snd_path ${folder}`,
      `ctrl_tcp_listen 127.0.0.1:${control}`,
    ];
    writeFileSync(join(folder, 'config'), `${config.join('\n')}\n`);
    writeFileSync(join(folder, 'accounts'), `${account}\n`);
    writeFileSync(join(folder, 'contacts'), '');
    // baresip hangs up at the end of its file. Trailing silence keeps the call up.
    const padded = spawnSync('sox', [
      says,
      '-r',
      String(rate),
      '-c',
      '1',
      join(folder, 'in.wav'),
      'pad',
      '1',
      '60',
    ]);
    if (padded.status !== 0) throw new Error(`sox: ${padded.stderr}`);
    const child = spawn('baresip', ['-f', folder, ...(traces ? ['-s'] : [])], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, HOME: folder },
    });
    const socket = await eventually('the control port of baresip', async () => {
      const attempt = connect(control, '127.0.0.1');
      const open = await Promise.race([
        once(attempt, 'connect').then(() => true),
        once(attempt, 'error').then(() => false),
      ]).catch(() => false);
      return open ? attempt : undefined;
    });
    return new Baresip(child, socket);
  }

  do(command: string, params = ''): void {
    const text = JSON.stringify({ command, params, token: 't' });
    this.#control.write(`${text.length}:${text},`);
  }

  async event(type: string): Promise<void> {
    await eventually(`${type} of baresip`, () =>
      this.#events.includes(`"${type}"`) ? true : undefined,
    ).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${this.output.slice(-3000)}`);
    });
    this.#events = '';
  }

  async stop(): Promise<void> {
    this.#control.destroy();
    const gone = once(this.child, 'close');
    this.child.kill('SIGTERM');
    setTimeout(() => this.child.kill('SIGKILL'), 3000).unref();
    await gone;
  }
}

/** Returns the audio that baresip sent (`enc`) or received (`dec`) in its call: one channel at `rate` Hz. */
export function dumpOf(folder: string, end: 'enc' | 'dec', rate = 8000): Int16Array {
  const name = readdirSync(folder).find((file) => file.endsWith(`-${end}.wav`)) ?? '';
  const mono = join(folder, `mono-${end}-${rate}.wav`);
  spawnSync('sox', [join(folder, name), '-r', String(rate), '-c', '1', mono]);
  const read = readWav(readFileSync(mono));
  if (!read.ok) throw new Error(`${name}: ${read.error}`);
  return read.value.samples;
}
