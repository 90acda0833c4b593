/** A softphone page in Chromium: the published SIP.js package with a tone as microphone input. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join, normalize } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { writeWav } from '../../src/phone/audio/wav.ts';
import { openChromium, WITH_MICROPHONE } from './chromium.ts';
import { eventually } from './service.ts';
import { tone } from './tones.ts';

const SIP_JS = new URL('../../node_modules/sip.js/lib/', import.meta.url).pathname;
const TYPES: Readonly<Record<string, string>> = { '.js': 'text/javascript', '.html': 'text/html' };
/** Length of the tone file, ms. Chromium loops the file, so it holds whole periods to avoid a click. */
const TONE_MS = 10_000;
/** Audibility threshold, dB. Tones of these tests arrive at about −20 dB. */
const AUDIBLE_DB = -50;

const PAGE = `<!doctype html><audio id="remote" autoplay></audio><script type="module">
import { SimpleUser } from '/sip.js/platform/web/index.js';
let user, context, analyser, listened;
const { promise: registered, resolve: accepted } = Promise.withResolvers();
const only = (family) => (description) => {
  const isKept = (line) => !line.startsWith('a=candidate') || line.split(' ')[4].includes(':') === (family === 6);
  const sdp = description.sdp.split('\\r\\n').filter(isKept).join('\\r\\n');
  return Promise.resolve({ type: description.type, sdp });
};
const peer = () => user.session?.sessionDescriptionHandler?.peerConnection;
window.phone = {
  async register({ server, aor, username, password }) {
    user = new SimpleUser(server, {
      aor,
      media: { constraints: { audio: true, video: false }, remote: { audio: document.getElementById('remote') } },
      userAgentOptions: {
        authorizationUsername: username,
        authorizationPassword: password,
        logBuiltinEnabled: false,
        sessionDescriptionHandlerFactoryOptions: { iceGatheringTimeout: 500 },
      },
      delegate: { onCallReceived: () => user.answer(), onRegistered: () => accepted() },
    });
    await user.connect();
    // register() resolves when the REGISTER has been sent, so an immediate call could miss the registration.
    await user.register();
    await registered;
  },
  /** Calls with the ICE candidates of one address family, 4 or 6, if it is given. */
  call: ({ target, family }) => user.call(target, { sessionDescriptionHandlerModifiers: family ? [only(family)] : [] }),
  remoteDescription: () => peer().remoteDescription.sdp,
  hangup: () => user.hangup(),
  mute: () => user.mute(),
  unmute: () => user.unmute(),
  get state() { return peer()?.connectionState ?? 'none'; },
  /** Returns the level of each frequency in the audio from the peer, dB. */
  levels(frequencies) {
    const track = peer()?.getReceivers().find(({ track }) => track.kind === 'audio')?.track;
    if (track === undefined) return frequencies.map(() => -Infinity);
    context ??= new AudioContext();
    if (listened !== track) {
      listened = track;
      analyser = context.createAnalyser();
      analyser.fftSize = 8192;
      analyser.smoothingTimeConstant = 0;
      context.createMediaStreamSource(new MediaStream([track])).connect(analyser);
    }
    const bins = new Float32Array(analyser.frequencyBinCount);
    analyser.getFloatFrequencyData(bins);
    return frequencies.map((hz) => {
      const at = Math.round((hz * analyser.fftSize) / context.sampleRate);
      return Math.max(...bins.subarray(at - 2, at + 3));
    });
  },
  async statistics() {
    const out = {};
    const reports = await peer().getStats();
    for (const report of reports.values()) {
      if (report.type === 'transport') {
        const pair = reports.get(report.selectedCandidatePairId);
        const localAddress = reports.get(pair?.localCandidateId)?.address ?? '';
        Object.assign(out, { dtlsState: report.dtlsState, srtpCipher: report.srtpCipher, localAddress });
      }
      if (report.type === 'inbound-rtp') Object.assign(out, { packets: report.packetsReceived, lost: report.packetsLost, concealed: report.concealedSamples, samples: report.totalSamplesReceived });
      if (report.type === 'codec') (out.codecs ??= []).push(report.mimeType);
    }
    return out;
  },
};
</script>`;

export interface BrowserStatistics {
  readonly dtlsState: string;
  readonly srtpCipher: string;
  readonly packets: number;
  readonly lost: number;
  readonly concealed: number;
  readonly samples: number;
  readonly codecs: readonly string[];
  /** Local address of the media. */
  readonly localAddress: string;
}

function serve(): Promise<Server> {
  const server = createServer((request, response) => {
    const path = normalize(decodeURIComponent(request.url ?? '/'));
    if (path === '/') {
      response.setHeader('content-type', 'text/html').end(PAGE);
      return;
    }
    try {
      const file = join(SIP_JS, path.replace(/^\/sip\.js\//, ''));
      const withEnd = extname(file) === '' ? `${file}.js` : file;
      const text = readFileSync(withEnd);
      response.setHeader('content-type', TYPES[extname(withEnd)] ?? 'text/plain').end(text);
    } catch {
      response.writeHead(404).end();
    }
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

export class BrowserPhone {
  readonly #browser: Browser;
  readonly #server: Server;
  readonly #folder: string;
  readonly #page: Page;

  private constructor(browser: Browser, server: Server, folder: string, page: Page) {
    this.#browser = browser;
    this.#server = server;
    this.#folder = folder;
    this.#page = page;
  }

  /** Opens the page with a tone of `hz` as microphone input. */
  static async start(hz: number): Promise<BrowserPhone> {
    const folder = mkdtempSync(join(tmpdir(), 'carillon-browser-'));
    const voice = join(folder, 'tone.wav');
    writeFileSync(voice, writeWav({ rate: 8000, samples: tone([hz], TONE_MS) }));
    const server = await serve();
    const browser = await openChromium([
      ...WITH_MICROPHONE,
      `--use-file-for-fake-audio-capture=${voice}`,
    ]);
    const context = await browser.newContext({
      permissions: ['microphone'],
      ignoreHTTPSErrors: true,
    });
    const page = await context.newPage();
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    await page.waitForFunction('window.phone !== undefined');
    return new BrowserPhone(browser, server, folder, page);
  }

  #do<T>(call: string, argument?: unknown): Promise<T> {
    return this.#page.evaluate(`window.phone.${call}(${JSON.stringify(argument) ?? ''})`);
  }

  /** Registers at `server`, a SIP over WebSocket URL. */
  register(
    server: string,
    { username, password }: { readonly username: string; readonly password: string },
  ): Promise<void> {
    return this.#do('register', { server, aor: `sip:${username}@127.0.0.1`, username, password });
  }
  /** Calls `target`. With `family`, the ICE candidates of both sides have only that address family. */
  call = (target: string, family?: 4 | 6): Promise<void> => this.#do('call', { target, family });
  remoteDescription = (): Promise<string> => this.#do('remoteDescription');
  hangup = (): Promise<void> => this.#do('hangup');
  mute = (): Promise<void> => this.#do('mute');
  unmute = (): Promise<void> => this.#do('unmute');
  statistics = (): Promise<BrowserStatistics> => this.#do('statistics');

  /** Returns, for each tone, whether the peer's audio currently contains it. */
  async hears(...frequencies: readonly number[]): Promise<readonly boolean[]> {
    // The analyser reports −∞ for digital silence, which JSON encodes as null.
    const levels = await this.#do<readonly (number | null)[]>('levels', frequencies);
    return levels.map((level) => level !== null && level > AUDIBLE_DB);
  }

  /** Waits until all tones are audible at the same time. The failure message lists the tones. */
  async received(...frequencies: readonly number[]): Promise<void> {
    await eventually(`${frequencies.join(' and ')} Hz in the browser`, async () =>
      (await this.hears(...frequencies)).every((is) => is) ? true : undefined,
    );
  }

  async silent(...frequencies: readonly number[]): Promise<void> {
    await eventually(`no ${frequencies.join(' and no ')} Hz in the browser`, async () =>
      (await this.hears(...frequencies)).some((is) => is) ? undefined : true,
    );
  }

  async stop(): Promise<void> {
    await this.#browser.close();
    this.#server.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
