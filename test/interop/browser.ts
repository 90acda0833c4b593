/** A Chromium with a page that is a phone: SIP.js as it comes from its package, and a tone as its microphone. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';

const SIP_JS = new URL('../../node_modules/sip.js/lib/', import.meta.url).pathname;
const TYPES: Readonly<Record<string, string>> = { '.js': 'text/javascript', '.html': 'text/html' };

const PAGE = `<!doctype html><audio id="remote" autoplay></audio><script type="module">
import { SimpleUser } from '/sip.js/platform/web/index.js';
let user, context, analyser;
const { promise: registered, resolve: accepted } = Promise.withResolvers();
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
    // The promise of register() is kept when the REGISTER has left: who calls then may find nobody.
    await user.register();
    await registered;
  },
  call: (target) => user.call(target),
  hangup: () => user.hangup(),
  sendDtmf: (digit) => user.sendDTMF(digit),
  get state() { return peer()?.connectionState ?? 'none'; },
  async stop() { await user.unregister(); await user.disconnect(); },
  /** The loudest frequency that the peer sends, Hz, and how loud, dB. */
  listen() {
    context ??= new AudioContext();
    if (analyser === undefined) {
      const track = peer().getReceivers().find(({ track }) => track.kind === 'audio').track;
      analyser = context.createAnalyser();
      analyser.fftSize = 8192;
      context.createMediaStreamSource(new MediaStream([track])).connect(analyser);
    }
    const bins = new Float32Array(analyser.frequencyBinCount);
    analyser.getFloatFrequencyData(bins);
    let best = 0;
    bins.forEach((level, i) => { if (level > bins[best]) best = i; });
    return { hz: (best * context.sampleRate) / analyser.fftSize, db: bins[best] };
  },
  async statistics() {
    const out = {};
    for (const report of (await peer().getStats()).values()) {
      if (report.type === 'transport') Object.assign(out, { dtlsState: report.dtlsState, srtpCipher: report.srtpCipher, iceState: report.iceState });
      if (report.type === 'inbound-rtp') Object.assign(out, { packets: report.packetsReceived, lost: report.packetsLost, concealed: report.concealedSamples, samples: report.totalSamplesReceived });
      if (report.type === 'codec') (out.codecs ??= []).push(report.mimeType);
    }
    return out;
  },
};
</script>`;

export interface Heard {
  readonly hz: number;
  readonly db: number;
}

export interface BrowserStatistics {
  readonly dtlsState: string;
  readonly srtpCipher: string;
  readonly packets: number;
  readonly lost: number;
  readonly concealed: number;
  readonly samples: number;
  readonly codecs: readonly string[];
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
  readonly page: Page;

  private constructor(browser: Browser, server: Server, page: Page) {
    this.#browser = browser;
    this.#server = server;
    this.page = page;
  }

  /** `hz`: what it says into its microphone. */
  static async start(folder: string, hz: number): Promise<BrowserPhone> {
    const tone = join(folder, `tone-${hz}.wav`);
    const made = spawnSync('sox', [
      '-n',
      '-r',
      '48000',
      '-c',
      '1',
      tone,
      'synth',
      '20',
      'sine',
      `${hz}`,
      'vol',
      '0.5',
    ]);
    if (made.status !== 0) throw new Error(`sox: ${made.stderr}`);
    const server = await serve();
    const browser = await chromium.launch({
      executablePath: '/usr/bin/chromium',
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--use-fake-ui-for-media-stream',
        '--use-fake-device-for-media-stream',
        `--use-file-for-fake-audio-capture=${tone}`,
        '--autoplay-policy=no-user-gesture-required',
        '--disable-features=WebRtcHideLocalIpsWithMdns',
        '--allow-loopback-in-peer-connection',
      ],
    });
    const context = await browser.newContext({
      permissions: ['microphone'],
      ignoreHTTPSErrors: true,
    });
    const page = await context.newPage();
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    await page.waitForFunction('window.phone !== undefined');
    return new BrowserPhone(browser, server, page);
  }

  #do<T>(call: string, argument?: unknown): Promise<T> {
    return this.page.evaluate(`window.phone.${call}(${JSON.stringify(argument) ?? ''})`);
  }

  register(account: {
    readonly server: string;
    readonly aor: string;
    readonly username: string;
    readonly password: string;
  }): Promise<void> {
    return this.#do('register', account);
  }
  call = (target: string): Promise<void> => this.#do('call', target);
  hangup = (): Promise<void> => this.#do('hangup');
  listen = (): Promise<Heard> => this.#do('listen');
  statistics = (): Promise<BrowserStatistics> => this.#do('statistics');
  state = (): Promise<string> => this.page.evaluate('window.phone.state');

  async stop(): Promise<void> {
    await this.#browser.close();
    this.#server.close();
  }
}
