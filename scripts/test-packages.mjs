// What enables the tests that a machine skips: Debian packages, unless noted otherwise. `npm test` prints them, and fails
// for a skipped test of a file that is not listed here.

/** Path of a test file and the packages that its skipped tests need. */
const PACKAGES = [
  [
    /^test\/(edge\/(store\/restore|speech\/speech-cache)|service\/(data-folder|recording-files))/,
    ['gcc'],
  ],
  [/^test\/cli\/store/, ['(root)']],
  [/^test\/cluster\//, ['postgresql', 'redis-server', 'kamailio']],
  [/^test\/(edge\/store\/|upgrade\/|e2e\/(disk|loads|backends|installed|alarms))/, ['postgresql']],
  [/^test\/edge\/cluster\//, ['redis-server']],
  [/^test\/edge\/rest\/plivo-python/, ['python3', 'plivo (Python)']],
  [/^test\/edge\/rest\/invoice-pdf/, ['fonts-dejavu-core']],
  [/^test\/edge\/speech\/recognizer/, ['pocketsphinx', 'pocketsphinx-en-us']],
  [/^test\/(cli\/doctor-optional|e2e\/optional-parts)/, ['util-linux', '(root)']],
  [/^test\/edge\/media\/cleaning/, ['libspeexdsp1']],
  [/^test\/edge\/speech\//, ['espeak-ng', 'flite']],
  [/^test\/deploy\/kamailio/, ['kamailio', 'kamailio-tls-modules', 'kamailio-websocket-modules']],
  [/^test\/deploy\/monitoring/, ['prometheus']],
  [/^test\/deploy\/fail2ban/, ['fail2ban']],
  [/^test\/deploy\/files/, ['systemd']],
  [/^test\/examples\//, ['python3', 'python3-websockets']],
  [/^test\/packages\//, ['python3']],
  [/^test\/service\/supervisor/, ['python3']],
  [/^test\/(service\/collector-threads|e2e\/log-output)/, ['(Linux only)']],
  [/^test\/e2e\/console/, ['chromium']],
  [/^test\/e2e\/browser-call/, ['chromium', '(a machine with IPv6 on loopback)']],
  [/^test\/e2e\/link-local/, ['iproute2', '(root)', '(a machine with IPv6 on loopback)']],
  [/^test\/(e2e|edge\/sip)\/ipv6/, ['(a machine with IPv6 on loopback)']],
  [/^test\/crash\//, ['gcc']],
  [
    /^test\/protocol\/sip(-ua)?\//,
    ['(the messages of RFC 4475 and RFC 5118, see docs/internals/testing.md)'],
  ],
];

/** Returns the packages that enable the skipped tests of a file, or undefined if the file is not listed. */
export const enabledBy = (file) => PACKAGES.find(([where]) => where.test(file))?.[1];
