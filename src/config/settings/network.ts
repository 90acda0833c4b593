/** Settings of listeners and trust: HTTP, SIP, RTP and telemetry. */
import {
  ADDRESS,
  EDGE_PLACE,
  HEADER_FIELD,
  HEADER_NAME,
  HOST,
  HOST_PLACE,
  ORIGIN,
  PROXY_RANGE,
  PUBLIC_ADDRESS6,
  PUBLIC_HOST,
  PUBLIC_HOST6,
  RANGE,
  url,
} from './forms.ts';
import { choice, integer, list, secret, shaped, text, toggle } from './kinds.ts';

const PORT = [1, 65_535] as const;
const PORT_OR_NONE = [0, 65_535] as const;

export const network = {
  http: {
    host: shaped(HOST, text('127.0.0.1', 'listen address of HTTP')),
    port: integer(8080, 0, 65_535, 'listen port of HTTP; 0: a free port'),
    tlsCertFile: text('', 'PEM certificate chain; enables HTTPS together with tlsKeyFile'),
    tlsKeyFile: text('', 'PEM private key of the certificate'),
    trustProxy: shaped(
      PROXY_RANGE,
      list([], 'addresses or CIDR ranges of reverse proxies whose X-Forwarded-For is trusted'),
    ),
    bodyLimitBytes: integer(1_048_576, 1024, 104_857_600, 'maximum size of a request body'),
    uploadLimitBytes: integer(
      268_435_456,
      1024,
      4_294_967_296,
      'maximum size of a contact list of a campaign',
    ),
    requestsPerSecond: integer(
      20_000,
      1,
      1_000_000,
      'maximum requests per second per account; beyond: 429',
    ),
    operatorPages: choice(
      ['auto', 'token', 'open'],
      'auto',
      "access to /metrics and the operator's part of /docs and /openapi.json: with adminToken, or public; auto: public while HTTP is bound to loopback, publicUrl is empty or loopback, and requests arrive without a proxy",
    ),
    metricsToken: secret('bearer token for /metrics only; empty: adminToken only'),
    refusedPerSecond: integer(
      100,
      1,
      1_000_000,
      'maximum requests without valid credentials per second, per address and per key; beyond: 429',
    ),
    connectionsPerAddress: integer(
      1000,
      1,
      100_000,
      'maximum connections of one address, except trusted proxies; beyond: the connection idle longest is closed',
    ),
  },
  sip: {
    host: shaped(HOST, text('127.0.0.1', 'listen address of SIP')),
    port: integer(5060, ...PORT, 'listen port of SIP over UDP and TCP'),
    publicHost: shaped(PUBLIC_HOST, text('', 'host in Via, Contact and sip_uri; empty: sip.host')),
    publicHost6: shaped(
      PUBLIC_HOST6,
      text(
        '',
        'IPv6 address, or host name with one, in Via and Contact for peers with IPv6, with sip.host ::; publicHost is then for peers with IPv4 and in sip_uri. Empty: publicHost is for all peers',
      ),
    ),
    backend: choice(
      ['own', 'drachtio'],
      'own',
      'SIP transport: own sockets, or the servers of drachtio.servers; sip.publicHost and sip.port are then their public address',
    ),
    userAgent: text('Carillon', 'value of the Server and User-Agent header fields'),
    registerExpiresMinS: integer(
      60,
      1,
      86_400,
      'minimum registration time; shorter ones are refused with 423',
    ),
    registerExpiresMaxS: integer(
      7200,
      60,
      604_800,
      'maximum registration time; longer ones are shortened',
    ),
    tlsPort: integer(
      5061,
      ...PORT_OR_NONE,
      'listen port of SIP over TLS; 0: off. If another program uses the default port, the listener is skipped',
    ),
    tlsCertFile: text(
      '',
      'PEM certificate chain of TLS and WSS, reloaded when the file changes or on SIGHUP; empty: a self-signed one in <dataDir>/keys',
    ),
    tlsKeyFile: text('', 'PEM private key of the certificate'),
    tlsCaFile: text(
      '',
      'certificate authorities (PEM) accepted for carriers in addition to public ones, and the only ones accepted for clients',
    ),
    tlsClientCertificates: choice(
      ['no', 'optional', 'required'],
      'no',
      'whether TLS clients are asked for a certificate issued by tlsCaFile; required: connections without one are refused',
    ),
    tlsWildcards: toggle(
      false,
      'accept a certificate for *.example.com from carrier sip.example.com (RFC 5922 forbids it)',
    ),
    carrierProbeMs: integer(
      30_000,
      500,
      3_600_000,
      'interval of OPTIONS probes to carriers; a new carrier is probed at the next interval',
    ),
    tlsHandshakesPerSecond: integer(
      300,
      1,
      100_000,
      'maximum inbound TLS handshakes per second, including WSS; further ones are queued: carriers first, then round-robin by address',
    ),
    wsPort: integer(
      5066,
      ...PORT_OR_NONE,
      'listen port of SIP over WebSocket (RFC 7118); like tlsPort',
    ),
    wssPort: integer(
      7443,
      ...PORT_OR_NONE,
      'listen port of SIP over WebSocket with TLS; like tlsPort',
    ),
    wsOrigins: shaped(
      ORIGIN,
      list([], 'origins of web pages that may open a SIP WebSocket; empty: any'),
    ),
    maxConnections: integer(5000, 1, 1_000_000, 'maximum connections over TCP, TLS and WebSocket'),
    connectionsPerAddress: integer(
      500,
      1,
      1_000_000,
      'maximum connections of one address; beyond: its oldest connection from an unknown peer is closed',
    ),
    unknownPeersPerSecond: integer(
      500,
      1,
      1_000_000,
      'maximum messages per second from one unauthenticated address (IPv6: /64), separately for new calls and other messages; beyond: dropped',
    ),
    edges: shaped(
      RANGE,
      list(
        [],
        'addresses and ranges of your edge proxies (deploy/kamailio). Their X-Carillon-Source names the sender, and unknown peers are accepted through them only; empty: unknown peers are accepted from any address',
      ),
    ),
    outboundEdges: shaped(
      EDGE_PLACE,
      list(
        [],
        'addresses at which edge proxies accept outbound calls from nodes, as address or address:port (5070), in order of preference. Calls to carriers, trunks and other addresses, except over TLS, leave through the first available one; empty: directly from this node',
      ),
    ),
    passHeaders: shaped(
      HEADER_NAME,
      list(
        ['Diversion', 'History-Info', 'User-to-User', 'Session-ID', 'Identity'],
        'header fields of an inbound call that Dial or a trunk forwards, unless the carrier or trunk has a separate list. X-* matches a prefix; fields used by SIP signalling are never forwarded. Identity is forwarded only if both numbers are unchanged',
      ),
    ),
    messageMaxBytes: integer(
      4096,
      1,
      65_000,
      'maximum text of a MESSAGE; longer ones are refused with 413',
    ),
    firstResponseMs: integer(
      4_000,
      500,
      32_000,
      'time without a response to INVITE after which a carrier or URI has failed and the next is tried',
    ),
    traceMiB: integer(
      16,
      1,
      4096,
      'memory for SIP messages of the latest calls, MiB; shown by carillon ladder and /admin/v1/calls/…/messages',
    ),
    challengeOrder: choice(
      ['compatible', 'strongest'],
      'compatible',
      'order of digest challenges: MD5 first, for phones that read only one, or SHA-512-256 first (RFC 8760)',
    ),
  },
  console: {
    passwordMinLength: integer(
      12,
      12,
      128,
      'minimum length of new console passwords; passwords that are easy to guess are always refused',
    ),
  },
  telemetry: {
    tracesUrl: shaped(
      url('http', 'https'),
      text(
        '',
        'OpenTelemetry collector for call traces, OTLP over HTTP, e.g. http://127.0.0.1:4318; empty: off',
      ),
    ),
    headers: shaped(HEADER_FIELD, {
      ...list([], 'header fields of these requests, Name=value'),
      secret: true,
    }),
    prometheusUrl: shaped(
      url('http', 'https'),
      text(
        '',
        'base URL of a Prometheus server that scrapes the nodes, for charts of the console beyond the last hour; empty: off',
      ),
    ),
  },
  drachtio: {
    servers: shaped(
      HOST_PLACE,
      list(
        [],
        'with sip.backend drachtio: control ports of drachtio servers, host or host:port (9022)',
      ),
    ),
    secret: secret('shared secret of the drachtio servers'),
    graceMs: integer(
      30_000,
      0,
      600_000,
      'how long calls continue after the connection to their drachtio server is lost',
    ),
  },
  hep: {
    host: shaped(
      HOST,
      text(
        '',
        'host of Homer or another HEP3 server for SIP messages and media reports; empty: off',
      ),
    ),
    port: integer(9060, ...PORT, 'UDP port of the HEP3 server'),
    captureId: integer(2001, 0, 4_294_967_295, 'capture ID of this service'),
    password: secret('authentication key of the HEP3 server; empty: none'),
    hideCredentials: toggle(
      true,
      'remove passwords, tokens, media keys and keys pressed (SIP INFO) from SIP messages sent to the HEP3 server; false: send them unchanged',
    ),
    mediaReports: toggle(
      true,
      'send loss, jitter and MOS of active calls every 5 s, as RTCP reports',
    ),
  },
  stir: {
    trustAnchorsFile: text(
      '',
      'certificate authorities (PEM) for the verification of caller numbers (RFC 8226), reloaded on SIGHUP; empty: Identity is not verified',
    ),
    policy: choice(
      ['off', 'verify', 'refuse', 'require'],
      'verify',
      'policy for calls from carriers: verify reports the result, refuse refuses invalid signatures (403, 436, 437, 438), require also refuses calls without one (428); a carrier may override it',
    ),
    freshnessS: integer(
      60,
      5,
      3600,
      'maximum difference between the time of a signature and the current time',
    ),
    keyFile: text(
      '',
      'P-256 private key (PEM) that signs calls to carriers, reloaded on SIGHUP; empty: calls are not signed',
    ),
    certificateUrl: shaped(
      url('https'),
      text('', 'public URL of the certificate for that key (https)'),
    ),
  },
  rtp: {
    host: shaped(ADDRESS, text('127.0.0.1', 'listen address of RTP')),
    publicHost: shaped(PUBLIC_HOST, text('', 'address in SDP; empty: rtp.host')),
    publicHost6: shaped(
      PUBLIC_ADDRESS6,
      text(
        '',
        'IPv6 address in SDP for peers with IPv6, with rtp.host ::; publicHost is then for peers with IPv4. Empty: media uses the address family of publicHost',
      ),
    ),
    portMin: integer(20_000, ...PORT, 'lowest RTP port'),
    icePort: integer(
      0,
      -1,
      65_535,
      'UDP and TCP port for media of all browsers; 0: the lowest RTP port; -1: a separate port per call, without TCP',
    ),
    portMax: integer(29_999, ...PORT, 'highest RTP port'),
    mediaTimeoutMs: integer(
      60_000,
      1000,
      3_600_000,
      'time without RTP after which a call ends (6020 Media Timeout)',
    ),
    acceptOtherSources: toggle(
      false,
      'false: accept RTP only from the IP address in the SDP and from the source address of the signalling. true: after 3 s also from other addresses, unless SDP and signalling use the same address. Enable it for carriers whose media gateways send from unannounced addresses. Risk: an attacker who finds the port of such a call may receive its audio',
    ),
    srtp: choice(
      ['off', 'optional', 'required'],
      'optional',
      'SRTP with keys in SDP (RFC 4568): accepted if offered, and offered to phones registered over TLS; or never; or always. Carriers and trunks with `secure` always require it',
    ),
    codecs: list(
      ['OPUS', 'G722', 'PCMU', 'PCMA'],
      'codecs for phones in order of preference: OPUS, G722, PCMU, PCMA, L16. An offer from a phone is answered in the order of the phone. CN adds comfort noise (RFC 3389) to offers; a peer that offers it always receives it',
    ),
    carrierCodecs: list(['PCMU', 'PCMA'], 'codecs for carriers and trunks, like codecs'),
    mediaThreads: integer(
      0,
      0,
      64,
      'media threads; each call runs on one of them; 0: number of cores minus one, at least one',
    ),
    ioUring: toggle(
      true,
      'send and receive batches of packets with one system call (io_uring) if the kernel supports it, Linux 5.18 or later; false: separate system calls per packet',
    ),
    keepAliveMs: integer(
      15_000,
      20,
      60_000,
      'keep-alive interval of a leg without audio in both directions, which also sends one packet at its start (RFC 6263); 20: continuous silence',
    ),
  },
} as const;
