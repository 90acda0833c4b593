/** A running service, a customer with sounds to play, and phones that call the customer's documents. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeMp3 } from '../../src/edge/audio/encode-mp3.ts';
import { writeWav } from '../../src/phone/audio/wav.ts';
import { openWav } from '../../src/protocol/audio-file/audio-file.ts';
import { Customer } from './customer.ts';
import { Handset, type HandsetOptions } from './handset.ts';
import { makeUser } from './phone.ts';
import { type Environment, eventually, newPlace, removePlace, Service } from './service.ts';
import { tone } from './tones.ts';

interface Sounds {
  /** URL of a WAV file: 600 ms of 800 Hz. */
  readonly low: string;
  /** URL of an MP3 file: 600 ms of 1500 Hz. */
  readonly high: string;
  /** URL of a WAV file: 10 s of 1000 Hz. */
  readonly endless: string;
}

/** A service with capacity for many calls, and its customer's web server. */
export interface Pair {
  readonly service: Service;
  readonly customer: Customer;
  close(): Promise<void>;
}

/** Starts the pair. `more` adds settings of the service to the defaults. */
export async function openPair(more: Environment = {}): Promise<Pair> {
  const place = await newPlace(more);
  const [service, customer] = await Promise.all([Service.start(place), Customer.listen()]);
  await service.admin('PATCH', `/accounts/${service.demo.authId}`, {
    concurrent_calls_limit: 50,
    cps_limit: 50,
  });
  return {
    service,
    customer,
    close: async () => {
      await service.kill();
      await customer.close();
      removePlace(place);
    },
  };
}

export class Scene {
  readonly service: Service;
  readonly customer: Customer;
  readonly sounds: Sounds;
  readonly #pair: Pair;

  private constructor(pair: Pair, sounds: Sounds) {
    this.#pair = pair;
    this.service = pair.service;
    this.customer = pair.customer;
    this.sounds = sounds;
  }

  /** `more` adds settings of the service to the defaults. */
  static async open(more: Environment = {}): Promise<Scene> {
    const pair = await openPair(more);
    return new Scene(pair, await soundsOf(pair.customer));
  }

  close(): Promise<void> {
    return this.#pair.close();
  }

  /** Calls an application whose document has these elements. */
  async callTo(name: string, elements: string, options: HandsetOptions = {}): Promise<Handset> {
    const user = await makeUser(this.service, name, {
      answer_url: this.document(`/${name}`, elements),
      hangup_url: this.url(`/${name}-hangup`),
    });
    return Handset.call(this.service, user, options);
  }

  /** Starts a registered phone that answers one call, and returns it with the `Dial` child that calls it. */
  async waiting(name: string, options: HandsetOptions = {}) {
    const user = await makeUser(this.service, name, { answer_url: this.document(`/${name}`, '') });
    const phone = await Handset.waiting(this.service, user, options);
    return {
      phone,
      element: `<User>sip:${user.username}@127.0.0.1:${this.service.sipPort}</User>`,
    };
  }

  url(path: string): string {
    return `http://${this.customer.authority}${path}`;
  }

  document(path: string, elements: string): string {
    return this.customer.xml(path, `<Response>${elements}</Response>`);
  }

  /** Waits for the first form posted to `path`, optionally with this event. */
  async reported(path: string, event?: string): Promise<Readonly<Record<string, string>>> {
    const posted = await eventually(`${event ?? 'a request'} at ${path}`, () =>
      this.customer.at(path).find(({ form }) => event === undefined || form['Event'] === event),
    );
    return posted.form;
  }

  async uuidOf(name: string): Promise<string> {
    return (await this.reported(`/${name}`))['CallUUID'] ?? '';
  }

  /** Downloads a WAV recording with its link only, without credentials. */
  async recorded(link: string | undefined) {
    const response = await fetch(link ?? '');
    if (response.status !== 200) throw new Error(`${link}: ${response.status}`);
    const bytes = new Uint8Array(await response.arrayBuffer());
    const wav = openWav(bytes);
    if (!wav.ok) throw new Error(wav.error);
    const { rate, channels, dataOffset, length } = wav.value;
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    const side = (channel: number) =>
      Int16Array.from({ length }, (_, i) =>
        view.getInt16(dataOffset + 2 * (i * channels + channel), true),
      );
    return { rate, channels, lengthMs: length / 8, left: side(0), right: side(channels - 1) };
  }
}

async function soundsOf(customer: Customer): Promise<Sounds> {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-sounds-'));
  const file = (name: string) => join(folder, name);
  const wav = (hz: number, ms: number) => writeWav({ rate: 8000, samples: tone([hz], ms) });
  const serve = (name: string, type: string, bytes: Uint8Array) =>
    customer.page(
      `/${name}`,
      (response) => void response.writeHead(200, { 'content-type': type }).end(bytes),
    );
  writeFileSync(file('high.wav'), wav(1500, 600));
  await encodeMp3({ kind: 'encodeMp3', wavPath: file('high.wav'), mp3Path: file('high.mp3') });
  const sounds = {
    low: serve('low.wav', 'audio/wav', wav(800, 600)),
    high: serve('high.mp3', 'audio/mpeg', readFileSync(file('high.mp3'))),
    endless: serve('endless.wav', 'audio/wav', wav(1000, 10_000)),
  };
  rmSync(folder, { recursive: true });
  return sounds;
}
